#include <atomic>
using enum std::memory_order;
std::atomic<int> x;
int f() { return x.load(acquire); } //~ load acquire literal order=acquire
void g() { x.store(1, relaxed); } //~ store relaxed literal order=relaxed
