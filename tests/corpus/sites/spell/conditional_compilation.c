#include <stdatomic.h>
atomic_int x;
int f(void) {
#if defined(FAST)
  return atomic_load_explicit(&x, memory_order_relaxed); //~ load relaxed
#else
  return atomic_load(&x); //~ load seq_cst
#endif
}
