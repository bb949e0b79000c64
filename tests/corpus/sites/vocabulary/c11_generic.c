#include <stdatomic.h>
atomic_int x;
void f(int e) {
  atomic_load_explicit(&x, memory_order_acquire); //~ load acquire by=c11
  atomic_store_explicit(&x, 1, memory_order_release); //~ store release
  atomic_exchange_explicit(&x, 1, memory_order_acq_rel); //~ rmw acq_rel
  atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); //~ rmw relaxed
  atomic_fetch_sub(&x, 1); //~ rmw seq_cst implied
  atomic_fetch_or(&x, 1); //~ rmw seq_cst
  atomic_compare_exchange_strong(&x, &e, 2); //~ cas seq_cst/seq_cst
  atomic_compare_exchange_weak_explicit(&x, &e, 2, memory_order_acquire, memory_order_relaxed); //~ cas-weak acquire/relaxed
  atomic_thread_fence(memory_order_acquire); //~ fence acquire
}
