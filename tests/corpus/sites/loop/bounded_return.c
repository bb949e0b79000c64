#include <stdatomic.h>
#include <sched.h>
#define SPIN 1000
atomic_int x_;
int f(void) {
  int n_ = 0;
  while (atomic_load_explicit(&x_, memory_order_acquire) != 1) { if (++n_ > SPIN) return 0; sched_yield(); } //~ load acquire
  return 1;
}
