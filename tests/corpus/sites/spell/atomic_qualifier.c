#include <stdatomic.h>
_Atomic int x;
int *_Atomic p;
void f(int *q) {
  x++; //~ rmw seq_cst on=x callee=++
  --x; //~ rmw seq_cst on=x callee=--
  x *= 2; //~ rmw seq_cst on=x callee=*=
  p = q; //~ store seq_cst on=p
  x = x + 1; //~ store seq_cst; load seq_cst
}
