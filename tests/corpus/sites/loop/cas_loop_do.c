#include <stdatomic.h>
atomic_int x;
int f(int add) {
  int old = atomic_load(&x), new; //~ load seq_cst
  do {
    new = old + add;
  } while (!atomic_compare_exchange_weak(&x, &old, new)); //~ cas-weak seq_cst/seq_cst cas-loop
  return new;
}
