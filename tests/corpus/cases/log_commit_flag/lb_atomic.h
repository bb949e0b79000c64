#ifndef LB_ATOMIC_H
#define LB_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint32_t lb_u32;

static inline uint32_t lb_load_relaxed(lb_u32 *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline uint32_t lb_load_acquire(lb_u32 *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static inline void lb_store_relaxed(lb_u32 *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline void lb_store_release(lb_u32 *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static inline uint32_t lb_add_relaxed(lb_u32 *word, uint32_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

#endif
