#include <stdatomic.h>
atomic_int x;
int f(void) { int n = 0; while (!atomic_load(&x)) n++; return n; } //~ load seq_cst
