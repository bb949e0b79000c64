/* The first use from several threads at once gives the right sum. */
#include "crc.h"

#include <assert.h>
#include <pthread.h>

#define THREADS 3

static void *sum(void *unused)
{
    (void)unused;
    assert(crc32_of("123456789", 9) == 0xcbf43926u);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, sum, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(crc32_bytes() == 9 * THREADS);
    return 0;
}
