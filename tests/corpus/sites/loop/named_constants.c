#include <stdatomic.h>
#define LOCKED 1
enum state { IDLE, BUSY = 7 };
static const int DONE = 9;
atomic_int x;
void f(void) { while (atomic_load(&x) == LOCKED) ; } //~ load seq_cst spin(!=1)
void g(void) { while (atomic_load(&x) != BUSY) ; } //~ load seq_cst spin(==7)
void h(void) { while (atomic_load(&x) != DONE) ; } //~ load seq_cst spin(==9)
