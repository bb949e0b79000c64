/* Readers look at a node that a writer keeps replacing. Nodes are marked dead
 * when they are reclaimed. */
#include "ebr.h"

#include <pthread.h>
#include <stdio.h>

#define NODES 6

struct node {
    int alive;
    int value;
};

static struct ebr ebr;
static struct node nodes[NODES];
static _Atomic(struct node *) current;
static int dead[EBR_READERS];

static void bury(void *object)
{
    struct node *node = object;
    node->alive = 0;
}

static void *read_nodes(void *number)
{
    int me = *(int *)number;

    for (int i = 0; i < 3; i++) {
        ebr_pin(&ebr, me);
        struct node *node = atomic_load_explicit(&current, memory_order_acquire);
        if (!node->alive)
            dead[me]++;
        ebr_unpin(&ebr, me);
    }
    return NULL;
}

int main(void)
{
    pthread_t readers[EBR_READERS];
    int numbers[EBR_READERS] = {0, 1};

    ebr_init(&ebr, bury);
    for (int i = 0; i < NODES; i++)
        nodes[i].alive = 1;
    atomic_init(&current, &nodes[0]);
    for (int i = 0; i < EBR_READERS; i++)
        pthread_create(&readers[i], NULL, read_nodes, &numbers[i]);
    for (int i = 1; i < NODES; i++) {
        nodes[i].value = i;
        ebr_retire(&ebr, atomic_exchange_explicit(&current, &nodes[i], memory_order_acq_rel));
    }
    for (int i = 0; i < EBR_READERS; i++)
        pthread_join(readers[i], NULL);
    ebr_drain(&ebr);
    if (dead[0] + dead[1])
        printf("%d dead nodes were used\n", dead[0] + dead[1]);
    return dead[0] + dead[1] != 0;
}
