#include <stdatomic.h>
atomic_int x;
const char *s = "no end;
void f(void) { atomic_store(&x, 1); } //~ store seq_cst
