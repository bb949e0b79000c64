/* All atomic accesses of the library go through these, with the order spelled out
 * at the call. */
#ifndef EBR_ATOMIC_H
#define EBR_ATOMIC_H

#include <stdatomic.h>

static inline unsigned long ebr_load(atomic_ulong *word, memory_order order)
{
    return atomic_load_explicit(word, order);
}

static inline void ebr_store(atomic_ulong *word, unsigned long value, memory_order order)
{
    atomic_store_explicit(word, value, order);
}

static inline void ebr_fence(memory_order order)
{
    atomic_thread_fence(order);
}

#endif
