#include <stdatomic.h>
atomic_int x;
int f(int a) {
  if (a
#ifdef B
      && atomic_load(&x) //~ load seq_cst
#endif
  ) {
    atomic_store(&x, 1); //~ store seq_cst
  }
  return 0;
}
