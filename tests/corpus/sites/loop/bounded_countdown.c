#include <stdatomic.h>
atomic_int x;
void f(int tries) { while (!atomic_load(&x) && tries-- > 0) ; } //~ load seq_cst
