#include <stdatomic.h>
#include <linux/futex.h>
atomic_int n;
void f(void) {
  atomic_fetch_add(&n, 1); //~ rmw seq_cst by=c11 on=n
  READ_ONCE(n); //~ load relaxed by=linux
}
