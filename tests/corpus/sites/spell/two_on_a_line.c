#include <stdatomic.h>
atomic_int a, b;
int f(void) { return atomic_load(&a) + atomic_load(&b); } //~ load seq_cst on=a; load seq_cst on=b
