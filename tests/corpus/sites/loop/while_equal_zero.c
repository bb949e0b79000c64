#include <stdatomic.h>
atomic_int x;
void f(void) { while (atomic_load(&x) == 0) ; } //~ load seq_cst spin(!=0)
