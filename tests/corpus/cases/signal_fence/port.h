/* What the firmware port gives the rest of the code for talking between cores. */
#ifndef PORT_H
#define PORT_H

#include <stdatomic.h>

/* Orders all memory accesses before it with all that come after it. */
#define PORT_MEMORY_BARRIER() atomic_signal_fence(memory_order_seq_cst)

/* An access that the compiler does not split, repeat or leave out. */
#define PORT_READ(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define PORT_WRITE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

#endif
