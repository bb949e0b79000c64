/* A test-and-test-and-set lock with a count of how often it was fought over. */
#ifndef SPIN_H
#define SPIN_H

#include <stdatomic.h>

struct spin {
    atomic_int held;
    atomic_uint contended;
};

#define SPIN_INIT {0, 0}

void spin_lock(struct spin *lock);
int spin_trylock(struct spin *lock);
void spin_unlock(struct spin *lock);

/* Unlocks, and lets somebody else run if the lock is fought over. */
void spin_unlock_yield(struct spin *lock);

unsigned spin_contended(struct spin *lock);

#endif
