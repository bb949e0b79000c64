#include <stdatomic.h>
atomic_int x;
void work(void);
void f(void) {
again:
  work();
  if (atomic_load(&x) != 1) goto again; //~ load seq_cst
}
