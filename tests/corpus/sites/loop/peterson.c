#include <stdatomic.h>
atomic_int flag[2], turn;
void lock(int me) {
  int other = 1 - me;
  atomic_store(&flag[me], 1); //~ store seq_cst
  atomic_store(&turn, other); //~ store seq_cst
  while (atomic_load(&flag[other]) && atomic_load(&turn) == other) ; //~ load seq_cst spin(==0,any); load seq_cst spin(!=other,any)
}
