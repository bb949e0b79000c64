#include <stdatomic.h>
atomic_int x;
void f(int *p) { while (atomic_load(&x) == 0) *p += 1; } //~ load seq_cst
