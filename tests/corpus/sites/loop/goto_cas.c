#include <stdatomic.h>
atomic_int x;
void f(void) {
  int old;
retry:
  old = atomic_load(&x); //~ load seq_cst
  if (!atomic_compare_exchange_strong(&x, &old, old + 1)) goto retry; //~ cas seq_cst/seq_cst cas-loop
}
