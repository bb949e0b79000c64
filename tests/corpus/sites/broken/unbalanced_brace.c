#include <stdatomic.h>
atomic_int x;
void f(void) {
  if (1) {
  atomic_store_explicit(&x, 1, memory_order_release); //~ store release on=x
void g(void) {
  atomic_load(&x); //~ load seq_cst
}
