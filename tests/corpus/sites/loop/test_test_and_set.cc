#include <atomic>
std::atomic<bool> l;
#include <sched.h>
void lock() {
  while (l.exchange(true, std::memory_order_acquire)) { //~ rmw acquire spin(==0)
    while (l.load(std::memory_order_relaxed)) sched_yield(); //~ load relaxed spin(==0)
  }
}
