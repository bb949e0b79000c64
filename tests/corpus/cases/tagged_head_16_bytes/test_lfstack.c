/* Blocks go round between threads; whoever holds one owns its payload. */
#include "lfstack.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define THREADS 2
#define ROUNDS 4
#define BLOCKS 2

static struct lfstack stack;
static struct lfblock blocks[BLOCKS];

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        struct lfblock *block;
        while (!(block = lfstack_pop(&stack)))
            sched_yield();
        block->payload[0]++;
        block->payload[1] = block->payload[0] * 2;
        lfstack_push(&stack, block);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t sum = 0;

    lfstack_init(&stack);
    for (int i = 0; i < BLOCKS; i++)
        lfstack_push(&stack, &blocks[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        sum += blocks[i].payload[1];
    if (sum != 2 * THREADS * ROUNDS) {
        printf("%llu instead of %d\n", (unsigned long long)sum, 2 * THREADS * ROUNDS);
        return 1;
    }
    return 0;
}
