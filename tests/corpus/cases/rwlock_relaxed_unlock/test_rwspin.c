/* A writer moves money between two accounts, readers look at the sum. */
#include "rwspin.h"

#include <pthread.h>
#include <stdio.h>

#define READERS 2
#define ROUNDS 3

static struct rwspin lock = RWSPIN_INIT;
static int here = 100, there;
static int wrong[READERS];

static void *reader(void *mine)
{
    for (int i = 0; i < ROUNDS; i++) {
        rwspin_read_lock(&lock);
        if (here + there != 100)
            ++*(int *)mine;
        rwspin_read_unlock(&lock);
    }
    return NULL;
}

static void *writer(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        rwspin_write_lock(&lock);
        here -= 10;
        there += 10;
        rwspin_write_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS + 1];
    int sum = 0;

    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, &wrong[i]);
    pthread_create(&threads[READERS], NULL, writer, NULL);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < READERS; i++)
        sum += wrong[i];
    if (sum || there != 10 * ROUNDS)
        printf("%d wrong sums, %d there\n", sum, there);
    return sum || there != 10 * ROUNDS;
}
