#include <stdatomic.h>
atomic_int x, y;
void f(void) { while (atomic_load(&x)) ; } //~ load seq_cst spin(==0)
void g(void) { while (!atomic_load(&y)) ; } //~ load seq_cst spin(!=0)
