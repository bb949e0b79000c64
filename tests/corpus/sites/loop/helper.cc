#include <atomic>
std::atomic<int> x;
static bool ready() { return x.load(std::memory_order_acquire) == 1; } //~ load acquire in=ready spin(==1)
void f() { while (!ready()) ; }
