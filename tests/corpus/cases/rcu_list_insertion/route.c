#include "route.h"

#include "rcu_ptr.h"

#include <stdlib.h>

static uint32_t mask_of(int bits)
{
    return bits == 0 ? 0 : ~0u << (32 - bits);
}

void route_init(struct route_table *table)
{
    table->first = NULL;
    table->made_last = NULL;
}

void route_destroy(struct route_table *table)
{
    while (table->made_last) {
        struct route *before = table->made_last->made_before;
        free(table->made_last);
        table->made_last = before;
    }
    table->first = NULL;
}

int route_add(struct route_table *table, uint32_t prefix, int bits, uint32_t gateway)
{
    struct route *route = malloc(sizeof *route);
    struct route **link = &table->first;
    struct route *at;

    if (!route)
        return -1;
    route->prefix = prefix & mask_of(bits);
    route->mask = mask_of(bits);
    route->gateway = gateway;
    route->made_before = table->made_last;
    table->made_last = route;
    while ((at = RCU_ACCESS(*link)) && at->mask > route->mask)
        link = &at->next;
    RCU_INIT(route->next, at);
    RCU_ASSIGN(*link, route);
    return 0;
}

int route_remove(struct route_table *table, uint32_t prefix, int bits)
{
    struct route **link = &table->first;
    struct route *at;

    while ((at = RCU_ACCESS(*link))) {
        if (at->mask == mask_of(bits) && at->prefix == (prefix & mask_of(bits))) {
            RCU_ASSIGN(*link, RCU_ACCESS(at->next));
            return 0;
        }
        link = &at->next;
    }
    return -1;
}

uint32_t route_lookup(struct route_table *table, uint32_t address)
{
    struct route *route;

    for (route = RCU_DEREFERENCE(table->first); route; route = RCU_DEREFERENCE(route->next)) {
        if ((address & route->mask) == route->prefix)
            return route->gateway;
    }
    return 0;
}
