#include <atomic>
std::atomic_flag l;
int misses;
void lock() { while (l.test_and_set(std::memory_order_acquire)) misses++; } //~ rmw acquire
