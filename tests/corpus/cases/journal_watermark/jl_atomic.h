#ifndef JL_ATOMIC_H
#define JL_ATOMIC_H

#include <stdatomic.h>

#define JL_READ(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define JL_WRITE(x, value, order) atomic_store_explicit(&(x), (value), memory_order_##order)

#endif
