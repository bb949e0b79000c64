#include <stdatomic.h>
atomic_int x;
void f(void) {
  if (atomic_load(&x) == //~ load seq_cst
  atomic_store(&x, 2); //~ store seq_cst
}
