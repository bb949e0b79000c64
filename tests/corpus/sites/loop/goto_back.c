#include <stdatomic.h>
atomic_int x;
void f(void) {
again:
  if (atomic_load(&x) != 1) goto again; //~ load seq_cst spin(==1)
}
