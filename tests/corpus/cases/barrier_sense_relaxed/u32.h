/* Words that threads share. The order is up to the caller. */
#ifndef U32_H
#define U32_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint32_t u32;

static inline uint32_t u32_load(u32 *word, memory_order order)
{
    return atomic_load_explicit(word, order);
}

static inline void u32_store(u32 *word, uint32_t value, memory_order order)
{
    atomic_store_explicit(word, value, order);
}

static inline uint32_t u32_add(u32 *word, uint32_t value, memory_order order)
{
    return atomic_fetch_add_explicit(word, value, order);
}

#endif
