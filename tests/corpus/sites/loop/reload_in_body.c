#include <stdatomic.h>
#include <sched.h>
atomic_int x;
int f(void) {
  int v = atomic_load(&x); //~ load seq_cst
  while (v == 0) {
    sched_yield();
    v = atomic_load(&x); //~ load seq_cst spin(!=0)
  }
  return v;
}
