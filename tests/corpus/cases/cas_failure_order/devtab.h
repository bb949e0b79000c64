/* A table of device descriptors that are made when they are first asked for.
 * Any thread may ask; the first one to finish making a descriptor installs it,
 * the others throw theirs away. */
#ifndef DEVTAB_H
#define DEVTAB_H

#include <stdatomic.h>
#include <stdint.h>

#define DEVTAB_SIZE 4

struct device {
    uint32_t id;
    uint32_t lanes;
    uint64_t base;
};

struct devtab {
    _Atomic(struct device *) entry[DEVTAB_SIZE];
};

void devtab_init(struct devtab *table);
void devtab_destroy(struct devtab *table);

/* The descriptor of a device, or null if there is no memory for it. */
struct device *devtab_get(struct devtab *table, uint32_t id);

/* How many descriptors have been made. */
int devtab_count(struct devtab *table);

#endif
