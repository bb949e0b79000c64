#include <linux/atomic.h>
int flag; atomic_t n;
void f(void) {
  WRITE_ONCE(flag, 1); //~ store relaxed implied by=linux on=flag
  READ_ONCE(flag); //~ load relaxed
  smp_store_release(&flag, 1); //~ store release on=flag
  smp_load_acquire(&flag); //~ load acquire
  smp_mb(); //~ fence seq_cst
  smp_wmb(); //~ fence release
  smp_rmb(); //~ fence acquire
  xchg(&flag, 1); //~ rmw seq_cst
  cmpxchg_acquire(&flag, 0, 1); //~ cas acquire/acquire suffix
  atomic_set(&n, 1); //~ store relaxed by=linux-atomic on=n
  atomic_inc(&n); //~ rmw relaxed
  atomic_fetch_add(2, &n); //~ rmw seq_cst on=n
  atomic_add_return_release(1, &n); //~ rmw release suffix on=n
  atomic_cmpxchg(&n, 0, 1); //~ cas seq_cst/seq_cst
  atomic_dec_and_test(&n); //~ rmw seq_cst
}
