/* A reader-writer spin lock in one word: the number of readers, and above it a
 * bit for the writer. */
#ifndef RWSPIN_H
#define RWSPIN_H

#include <stdatomic.h>
#include <stdint.h>

#define RWSPIN_WRITER 0x10000u

struct rwspin {
    _Atomic uint32_t state;
};

#define RWSPIN_INIT {0}

int rwspin_read_trylock(struct rwspin *lock);
void rwspin_read_lock(struct rwspin *lock);
void rwspin_read_unlock(struct rwspin *lock);
int rwspin_write_trylock(struct rwspin *lock);
void rwspin_write_lock(struct rwspin *lock);
void rwspin_write_unlock(struct rwspin *lock);

#endif
