#include <stdatomic.h>
#define READ(p) atomic_load_explicit(p, memory_order_acquire) //~ load acquire body=READ
atomic_int x;
void f(void) { while (READ(&x) == 0) ; } //~ load acquire macro spin(!=0)
