#include <stdatomic.h>
#define PUT(x, v) \
  do { atomic_store_explicit(&(x), (v), memory_order_release); } while (0) //~ store release body=PUT
atomic_int flag;
void f(void) { PUT(flag, 1); } //~ store release macro on=flag
