#include <stdatomic.h>
/* atomic_load(&x) */
// atomic_store(&x, 1)
const char *s = "atomic_exchange(&x, 2)";
