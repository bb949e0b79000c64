#include <stdatomic.h>
void f(int *p) {
  atomic_store((_Atomic int *)p, 1); //~ store seq_cst
  *(_Atomic int *)p = 2; //~ store seq_cst on=*(_Atomicint*)p
}
