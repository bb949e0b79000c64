/* Threads count up a plain counter under the lock. */
#include "clh.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 4

static struct clh_lock lock;
static struct clh_node nodes[THREADS];
static int counter;

static void *work(void *node)
{
    struct clh_handle handle;

    clh_handle_init(&handle, node);
    for (int i = 0; i < ROUNDS; i++) {
        clh_acquire(&lock, &handle);
        counter++;
        clh_release(&handle);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    clh_init(&lock);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &nodes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (counter != THREADS * ROUNDS) {
        printf("%d instead of %d\n", counter, THREADS * ROUNDS);
        return 1;
    }
    return 0;
}
