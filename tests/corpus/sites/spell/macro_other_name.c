#include <stdatomic.h>
#define _lib_get(p) atomic_load_explicit((p), memory_order_relaxed) //~ load relaxed literal body=_lib_get
#define lib_get _lib_get
#define lib_load atomic_load_explicit
#define lib_store atomic_store
#define lib_swap (atomic_exchange)
#define lib_print printf
atomic_int x;
int f(void) {
  lib_store(&x, 1); //~ store seq_cst macro on=x in=f
  lib_print("x");
  lib_swap(&x, 1);
  return lib_get(&x) //~ load relaxed macro on=x
    + lib_load(&x, memory_order_acquire); //~ load acquire literal order=memory_order_acquire on=x
}
