#include <atomic>
std::atomic<int> x;
int f() { return x.load(std::memory_order::acquire); } //~ load acquire literal order=std::memory_order::acquire on=x in=f by=std
void g() { x.store(1, std::memory_order::release); } //~ store release literal on=x in=g
