#include "spin.h"

#include <sched.h>

static inline int take(struct spin *lock, memory_order order)
{
    return !atomic_exchange_explicit(&lock->held, 1, order);
}

static inline void set_free(struct spin *lock, memory_order order)
{
    atomic_store_explicit(&lock->held, 0, order);
}

int spin_trylock(struct spin *lock)
{
    return take(lock, memory_order_acquire);
}

void spin_lock(struct spin *lock)
{
    while (!take(lock, memory_order_acquire)) {
        atomic_fetch_add_explicit(&lock->contended, 1, memory_order_relaxed);
        while (atomic_load_explicit(&lock->held, memory_order_relaxed))
            sched_yield();
    }
}

void spin_unlock(struct spin *lock)
{
    set_free(lock, memory_order_release);
}

void spin_unlock_yield(struct spin *lock)
{
    unsigned contended = atomic_exchange_explicit(&lock->contended, 0, memory_order_relaxed);

    set_free(lock, memory_order_relaxed);
    if (contended)
        sched_yield();
}

unsigned spin_contended(struct spin *lock)
{
    return atomic_load_explicit(&lock->contended, memory_order_relaxed);
}
