#include <stdatomic.h>
#include <sched.h>
#define SPIN 1000
atomic_int l_;
int f(void) {
  int n_ = 0, e_ = 0;
  while (!atomic_compare_exchange_strong_explicit(&l_, &e_, 1, memory_order_acquire, memory_order_relaxed)) { e_ = 0; sched_yield(); } //~ cas acquire/relaxed blocking(==0)
  return 1;
}
