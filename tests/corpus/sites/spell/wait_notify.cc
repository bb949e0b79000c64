#include <atomic>
std::atomic<int> x;
void f() {
  x.wait(0, std::memory_order_acquire); //~ load acquire on=x spin(!=0)
  x.notify_one();
}
