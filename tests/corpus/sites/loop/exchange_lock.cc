#include <atomic>
std::atomic<int> l;
void lock() { while (l.exchange(1, std::memory_order_acquire) == 1) {} } //~ rmw acquire spin(!=1)
