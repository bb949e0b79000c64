#include "devtab.h"

#include <stdlib.h>

void devtab_init(struct devtab *table)
{
    for (int i = 0; i < DEVTAB_SIZE; i++)
        atomic_init(&table->entry[i], NULL);
}

void devtab_destroy(struct devtab *table)
{
    for (int i = 0; i < DEVTAB_SIZE; i++)
        free(atomic_load(&table->entry[i]));
}

static struct device *probe(uint32_t id)
{
    struct device *device = malloc(sizeof *device);

    if (!device)
        return NULL;
    device->id = id;
    device->lanes = 1u << (id % 3);
    device->base = 0x10000000u + (uint64_t)id * 0x1000u;
    return device;
}

struct device *devtab_get(struct devtab *table, uint32_t id)
{
    _Atomic(struct device *) *entry = &table->entry[id % DEVTAB_SIZE];
    struct device *device = atomic_load_explicit(entry, memory_order_acquire);
    struct device *made;

    if (device)
        return device;
    made = probe(id);
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(entry, &device, made,
                                                memory_order_acq_rel, memory_order_relaxed))
        return made;
    /* Somebody else was faster: theirs counts. */
    free(made);
    return device;
}

int devtab_count(struct devtab *table)
{
    int count = 0;

    for (int i = 0; i < DEVTAB_SIZE; i++)
        count += atomic_load_explicit(&table->entry[i], memory_order_relaxed) != NULL;
    return count;
}
