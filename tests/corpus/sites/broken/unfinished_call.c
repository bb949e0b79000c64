#include <stdatomic.h>
atomic_int x;
void f(void) {
  atomic_store_explicit(&x, 1,
}
void g(void) { atomic_load(&x); } //~ load seq_cst
