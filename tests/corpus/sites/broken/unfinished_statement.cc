#include <atomic>
std::atomic<int> x;
void f() {
  int y =
  x.fetch_add(1, std::memory_order_relaxed); //~ rmw relaxed
  y +
}
void g() { x.store(2); } //~ store seq_cst
