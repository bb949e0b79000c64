#include <stdatomic.h>
#define rlx memory_order_relaxed
#define MO_SYNC memory_order_acq_rel
atomic_int n;
int f(void) { return atomic_load_explicit(&n, rlx); } //~ load relaxed literal order=rlx
int g(void) { return atomic_fetch_add_explicit(&n, 1, MO_SYNC); } //~ rmw acq_rel not-literal order=MO_SYNC
