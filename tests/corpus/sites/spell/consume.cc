#include <atomic>
std::atomic<int*> p;
int* f() { return p.load(std::memory_order_consume); } //~ load acquire literal order=std::memory_order_consume
