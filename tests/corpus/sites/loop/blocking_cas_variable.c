#include <stdatomic.h>
atomic_int turn;
void f(int me) {
  int e = me;
  while (!atomic_compare_exchange_strong(&turn, &e, -1)) e = me; //~ cas seq_cst/seq_cst blocking(==me)
}
