#include <atomic>
std::atomic<int> x;
int f() { return x.load(std::memory_order_acquire); } //~ load acquire literal order=std::memory_order_acquire
int g() { return x.load(::std::memory_order_relaxed); } //~ load relaxed literal
