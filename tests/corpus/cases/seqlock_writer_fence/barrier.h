/* Memory barriers and accesses in the words of the kernel that this code was
 * written for. */
#ifndef BARRIER_H
#define BARRIER_H

#include <stdatomic.h>

#define smp_rmb() atomic_thread_fence(memory_order_acquire)
#define smp_wmb() atomic_thread_fence(memory_order_release)

#define READ_ONCE(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define WRITE_ONCE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define smp_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
#define smp_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)

#endif
