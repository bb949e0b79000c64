#include "radix.h"

#include <stdlib.h>

void radix_init(struct radix *radix)
{
    pthread_mutex_init(&radix->lock, NULL);
    for (int i = 0; i < RADIX_SLOTS; i++)
        at_store_p(&radix->leaves[i], NULL, AT_RELAXED);
}

void radix_destroy(struct radix *radix)
{
    for (int i = 0; i < RADIX_SLOTS; i++)
        free(at_load_p(&radix->leaves[i], AT_RELAXED));
    pthread_mutex_destroy(&radix->lock);
}

void radix_cover(struct radix *radix, unsigned address, size_t size)
{
    _Atomic(void *) *slot = &radix->leaves[(address >> RADIX_BITS) % RADIX_SLOTS];

    pthread_mutex_lock(&radix->lock);
    if (!at_load_p(slot, AT_RELAXED)) {
        struct radix_leaf *leaf = malloc(sizeof *leaf);

        for (int i = 0; i < RADIX_SLOTS; i++)
            leaf->pages[i] = size;
        at_store_p(slot, leaf, AT_RELAXED);
    }
    pthread_mutex_unlock(&radix->lock);
}

size_t radix_size(const struct radix *radix, unsigned address)
{
    const struct radix_leaf *leaf =
        at_load_p(&radix->leaves[(address >> RADIX_BITS) % RADIX_SLOTS], AT_ACQUIRE);

    return leaf ? leaf->pages[address % RADIX_SLOTS] : 0;
}
