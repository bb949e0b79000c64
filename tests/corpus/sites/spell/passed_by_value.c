#include <stdatomic.h>
int printf(const char *, ...);
_Atomic int n;
void f(void) { printf("%d\n", n); } //~ load seq_cst on=n
void g(void) { printf("%p\n", (void *)&n); }
