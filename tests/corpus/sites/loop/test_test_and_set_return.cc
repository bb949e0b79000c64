#include <atomic>
std::atomic<bool> l;
void lock() {
  for (;;) {
    if (!l.exchange(true)) return; //~ rmw seq_cst spin(==0)
    while (l.load(std::memory_order_relaxed)) {} //~ load relaxed spin(==0)
  }
}
