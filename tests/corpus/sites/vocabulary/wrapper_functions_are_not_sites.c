#include <stdatomic.h>
static inline int get(atomic_int *p) { return atomic_load_explicit(p, memory_order_acquire); } //~ load acquire in=get
int f(atomic_int *p) { return get(p); }
