#ifndef AT_H
#define AT_H

#include <stdatomic.h>
#include <stddef.h>

#define AT_RELAXED memory_order_relaxed
#define AT_ACQUIRE memory_order_acquire
#define AT_RELEASE memory_order_release

/* The operations on one type. */
#define AT_GENERATE(type, name) \
static inline type at_load_##name(const _Atomic(type) *p, memory_order order) \
{ \
    /* C11 has no atomic_load of const. */ \
    _Atomic(type) *q = (_Atomic(type) *)p; \
    return atomic_load_explicit(q, order); \
} \
\
static inline void at_store_##name(_Atomic(type) *p, type value, memory_order order) \
{ \
    atomic_store_explicit(p, value, order); \
}

AT_GENERATE(void *, p)
AT_GENERATE(size_t, zu)

#endif
