#include "rwspin.h"

#include <sched.h>

int rwspin_read_trylock(struct rwspin *lock)
{
    uint32_t before = atomic_fetch_add_explicit(&lock->state, 1, memory_order_acquire);

    if (before < RWSPIN_WRITER)
        return 1;
    atomic_fetch_sub_explicit(&lock->state, 1, memory_order_relaxed);
    return 0;
}

void rwspin_read_lock(struct rwspin *lock)
{
    while (!rwspin_read_trylock(lock)) {
        while (atomic_load_explicit(&lock->state, memory_order_relaxed) >= RWSPIN_WRITER)
            sched_yield();
    }
}

void rwspin_read_unlock(struct rwspin *lock)
{
    /* Readers change nothing, so there is nothing to publish. */
    atomic_fetch_sub_explicit(&lock->state, 1u, memory_order_relaxed);
}

int rwspin_write_trylock(struct rwspin *lock)
{
    uint32_t unlocked = 0;

    return atomic_compare_exchange_strong_explicit(&lock->state, &unlocked, RWSPIN_WRITER,
                                                   memory_order_acquire, memory_order_relaxed);
}

void rwspin_write_lock(struct rwspin *lock)
{
    while (!rwspin_write_trylock(lock)) {
        while (atomic_load_explicit(&lock->state, memory_order_relaxed) != 0)
            sched_yield();
    }
}

void rwspin_write_unlock(struct rwspin *lock)
{
    atomic_fetch_sub_explicit(&lock->state, RWSPIN_WRITER, memory_order_release);
}
