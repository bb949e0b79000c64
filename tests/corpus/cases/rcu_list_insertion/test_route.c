/* Lookups while routes come and go: the default route always answers. */
#include "route.h"

#include <pthread.h>
#include <stdio.h>

#define LOOKUPS 4

static struct route_table table;
static int wrong[2];

static void *forward(void *mine)
{
    for (int i = 0; i < LOOKUPS; i++) {
        uint32_t gateway = route_lookup(&table, 0x0a010203u);
        if (gateway != 1 && gateway != 2 && gateway != 3)
            ++*(int *)mine;
    }
    return NULL;
}

int main(void)
{
    pthread_t cores[2];

    route_init(&table);
    route_add(&table, 0, 0, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&cores[i], NULL, forward, &wrong[i]);
    route_add(&table, 0x0a000000u, 8, 2);
    route_add(&table, 0x0a010000u, 16, 3);
    route_remove(&table, 0x0a000000u, 8);
    for (int i = 0; i < 2; i++)
        pthread_join(cores[i], NULL);
    if (route_lookup(&table, 0x0a010203u) != 3)
        wrong[0]++;
    route_destroy(&table);
    if (wrong[0] + wrong[1])
        printf("%d wrong gateways\n", wrong[0] + wrong[1]);
    return wrong[0] + wrong[1] != 0;
}
