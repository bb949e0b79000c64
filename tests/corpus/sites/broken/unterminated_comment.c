#include <stdatomic.h>
atomic_int x;
void f(void) { atomic_store(&x, 1); } //~ store seq_cst
/* this never ends
void g(void) { atomic_store(&x, 2); } //~ store seq_cst
