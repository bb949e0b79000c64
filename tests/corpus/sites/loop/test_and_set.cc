#include <atomic>
std::atomic_flag l;
void lock() { while (l.test_and_set(std::memory_order_acquire)) ; } //~ rmw acquire spin(==0)
