#include <stdatomic.h>
#define LOADS(n, t) static inline t load_##n(const _Atomic t *p, memory_order o) { /* as C11 has it */ _Atomic t *q = (_Atomic t *)p; return atomic_load_explicit(q, o); } //~ load ? not-literal body=LOADS
#define STORES(o) static inline void store_##o(atomic_int *p, int v) { atomic_store_explicit(p, v, memory_order_##o); } //~ store ? not-literal body=STORES
#define ALL(n, t) \
  LOADS(n, t)
ALL(i, int)
STORES(relaxed)
STORES(release)
atomic_int x;
int f(void) {
  store_release(&x, 1); //~ store release macro on=x
  store_relaxed(&x, 1); //~ store relaxed macro on=x
  while (!load_i(&x, memory_order_relaxed)) {} //~ load relaxed literal on=x spin(!=0)
  return load_i(&x, memory_order_acquire); //~ load acquire literal on=x
}
