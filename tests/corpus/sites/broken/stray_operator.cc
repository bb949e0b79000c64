#include <atomic>
std::atomic<int> x;
void f() {
  x.store(1, std::memory_order_release) + * ; //~ store release
}
