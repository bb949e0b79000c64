#ifndef XA_ATOMIC_H
#define XA_ATOMIC_H

#include <stdatomic.h>

#define xa_load_relaxed(p) atomic_load_explicit((p), memory_order_relaxed)
#define xa_exchange_acquire(p, v) atomic_exchange_explicit((p), (v), memory_order_acquire)
#define xa_cas_weak_relaxed(p, expected, v) \
    atomic_compare_exchange_weak_explicit((p), (expected), (v), memory_order_relaxed, \
                                          memory_order_relaxed)
#define xa_cas_weak_release(p, expected, v) \
    atomic_compare_exchange_weak_explicit((p), (expected), (v), memory_order_release, \
                                          memory_order_relaxed)

#endif
