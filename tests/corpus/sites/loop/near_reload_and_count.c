#include <stdatomic.h>
atomic_int x;
int misses;
int f(void) {
  int v = atomic_load(&x); //~ load seq_cst
  while (v == 0) {
    misses = misses + 1;
    v = atomic_load(&x); //~ load seq_cst
  }
  return v;
}
