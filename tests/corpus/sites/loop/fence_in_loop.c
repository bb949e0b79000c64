#include <stdatomic.h>
atomic_int x;
void f(void) {
  while (atomic_load_explicit(&x, memory_order_relaxed) == 0) //~ load relaxed spin(!=0)
    atomic_thread_fence(memory_order_seq_cst); //~ fence seq_cst
}
