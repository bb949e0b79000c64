#include <stdatomic.h>
atomic_int x;
int f(void) {
  return atomic_load_explicit /* odd */ ( //~ load acquire literal on=x
      &x /* the flag */,
      memory_order_acquire // why
  );
}
