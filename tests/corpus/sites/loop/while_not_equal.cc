#include <atomic>
std::atomic<int> x;
void f() { while (x.load(std::memory_order_acquire) != 1) {} } //~ load acquire spin(==1) looped
