#include <stdatomic.h>
_Atomic int x;
void f(void) { while (!x) {} } //~ load seq_cst on=x spin(!=0)
