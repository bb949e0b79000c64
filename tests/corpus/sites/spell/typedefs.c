#include <stdatomic.h>
typedef _Atomic int counter_t;
typedef atomic_long *counter_ref;
counter_t hits;
void f(counter_ref r) {
  hits += 1; //~ rmw seq_cst on=hits
  *r = 0; //~ store seq_cst on=*r
}
