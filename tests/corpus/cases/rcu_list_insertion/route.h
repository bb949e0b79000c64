/* The routing table: a list, the longest prefix first. Lookups run on all cores
 * without a lock; changes are made by one thread. Routes that were taken out are
 * freed with the table. */
#ifndef ROUTE_H
#define ROUTE_H

#include <stdint.h>

struct route {
    struct route *next;
    struct route *made_before;
    uint32_t prefix;
    uint32_t mask;
    uint32_t gateway;
};

struct route_table {
    struct route *first;
    struct route *made_last;
};

void route_init(struct route_table *table);
void route_destroy(struct route_table *table);
int route_add(struct route_table *table, uint32_t prefix, int bits, uint32_t gateway);
int route_remove(struct route_table *table, uint32_t prefix, int bits);

/* The gateway for an address, or 0. */
uint32_t route_lookup(struct route_table *table, uint32_t address);

#endif
