#include <stdatomic.h>
static atomic_int x;
static int get(void) { return atomic_load(&x); } //~ load seq_cst in=get spin(>=3)
void f(void) { while (get() < 3) ; }
