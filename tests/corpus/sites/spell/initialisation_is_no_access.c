#include <stdatomic.h>
_Atomic int a = 1;
atomic_int b = ATOMIC_VAR_INIT(2);
void f(void) { _Atomic int c = 3; (void)&c; atomic_init(&a, 4); }
