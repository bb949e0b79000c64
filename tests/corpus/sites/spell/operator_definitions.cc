#include <atomic>
struct Ref {
  std::atomic<long> n;
  Ref& operator++() { n.fetch_add(1, std::memory_order_relaxed); return *this; } //~ rmw relaxed in=operator++
  operator long() const { return n.load(); } //~ load seq_cst
};
