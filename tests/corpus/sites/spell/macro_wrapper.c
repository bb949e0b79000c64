#include <stdatomic.h>
#define LOAD_ACQ(x) atomic_load_explicit(&(x), memory_order_acquire) //~ load acquire body=LOAD_ACQ
atomic_int flag;
int f(void) { return LOAD_ACQ(flag); } //~ load acquire macro on=flag callee=LOAD_ACQ in=f
