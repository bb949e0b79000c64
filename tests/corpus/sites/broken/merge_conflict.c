#include <stdatomic.h>
atomic_int x;
void f(void) {
<<<<<<< ours
  atomic_store(&x, 1); //~ store seq_cst
=======
  atomic_store_explicit(&x, 1, memory_order_release); //~ store release
>>>>>>> theirs
}
