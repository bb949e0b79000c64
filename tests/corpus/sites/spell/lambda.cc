#include <atomic>
std::atomic<int> x;
void f() {
  auto up = [] { x.fetch_add(1, std::memory_order_relaxed); }; //~ rmw relaxed in=f
  up();
}
