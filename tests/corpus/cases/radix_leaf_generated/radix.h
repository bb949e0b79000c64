#ifndef RADIX_H
#define RADIX_H

#include "at.h"

#include <pthread.h>

#define RADIX_BITS 2
#define RADIX_SLOTS (1 << RADIX_BITS)

struct radix_leaf {
    size_t pages[RADIX_SLOTS];
};

/* From addresses to sizes of pages. Leaves are made under the lock and read without. */
struct radix {
    pthread_mutex_t lock;
    _Atomic(void *) leaves[RADIX_SLOTS];
};

void radix_init(struct radix *radix);
void radix_destroy(struct radix *radix);

/* Makes the leaf of an address, every page of this size. */
void radix_cover(struct radix *radix, unsigned address, size_t size);

/* 0 if nothing is known of the address. */
size_t radix_size(const struct radix *radix, unsigned address);

#endif
