#include <atomic>
std::atomic<int> x, y;
void f() {
  x.store(y.load(std::memory_order_acquire), std::memory_order_release); //~ store release on=x; load acquire on=y
}
