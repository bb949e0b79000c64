#include <atomic>
std::atomic<int> x;
void f() { x.store(1); }} //~ store seq_cst
int g() { return x.load(std::memory_order_acquire); } //~ load acquire
