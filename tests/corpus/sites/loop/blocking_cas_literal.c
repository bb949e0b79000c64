#include <stdatomic.h>
atomic_int l;
void f(void) { while (!atomic_compare_exchange_weak(&l, &(int){0}, 1)) ; } //~ cas-weak seq_cst/seq_cst blocking(==0)
