#include <atomic>
struct Lock {
  std::atomic<int> l;
  bool try_lock() { int e = 0; return l.compare_exchange_strong(e, 1); } //~ cas seq_cst/seq_cst in=try_lock
  void lock() { while (!try_lock()) {} }
};
