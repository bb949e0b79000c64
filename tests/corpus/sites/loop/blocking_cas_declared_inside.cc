#include <atomic>
std::atomic<bool> l;
#include <sched.h>
void lock() {
  for (;;) {
    bool e = false;
    if (l.compare_exchange_strong(e, true)) break; //~ cas seq_cst/seq_cst blocking(==0)
    sched_yield();
  }
}
