#include <atomic>
std::atomic<int> l;
void lock() {
  int e = 0;
  while (!l.compare_exchange_weak(e, 1, std::memory_order_acquire)) e = 0; //~ cas-weak acquire/acquire blocking(==0)
}
