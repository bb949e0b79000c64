#include <stdatomic.h>
#include <stdbool.h>
atomic_int x;
int f(void) {
  while (true) {
    int v = atomic_load(&x); //~ load seq_cst spin(!=0)
    if (v) { return v + 1; }
  }
}
