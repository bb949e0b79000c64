#include <atomic>
std::atomic<bool> l;
void pause();
void lock() {
  while (l.exchange(true, std::memory_order_acquire)) { //~ rmw acquire spin(==0)
    while (l.load(std::memory_order_relaxed)) pause(); //~ load relaxed spin(==0)
  }
}
