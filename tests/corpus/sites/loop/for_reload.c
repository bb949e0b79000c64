#include <stdatomic.h>
atomic_int x;
int f(void) {
  int v;
  for (v = atomic_load(&x); //~ load seq_cst
       v != 1;
       v = atomic_load(&x)) ; //~ load seq_cst spin(==1)
  return v;
}
