/* Threads pass a list of numbers around under the lock. */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 3

static struct spin lock = SPIN_INIT;
static int entries[THREADS * ROUNDS];
static int used;

static void *append(void *number)
{
    for (int i = 0; i < ROUNDS; i++) {
        spin_lock(&lock);
        entries[used++] = *(int *)number;
        if (i == ROUNDS - 1)
            spin_unlock_yield(&lock);
        else
            spin_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS] = {1, 2, 3};
    int sum = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, append, &numbers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < used; i++)
        sum += entries[i];
    if (used != THREADS * ROUNDS || sum != 6 * ROUNDS) {
        printf("%d entries, sum %d\n", used, sum);
        return 1;
    }
    return 0;
}
