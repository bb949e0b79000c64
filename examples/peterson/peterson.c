/* Peterson's lock for two threads: I raise my flag, give the turn to the other,
 * and wait while the other wants in and has the turn. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 4 };

static atomic_int wants[2];
static atomic_int turn;
static int counter; /* belongs to whoever holds the lock */

static void lock(int me)
{
    int other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    while (atomic_load_explicit(&wants[other], memory_order_relaxed) == 1 &&
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        sched_yield();
}

static void unlock(int me)
{
    atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
}

static void *worker(void *number)
{
    int me = *(int *)number;
    for (int round = 0; round < ROUNDS; round++) {
        lock(me);
        counter++;
        unlock(me);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("counted to %d of %d\n", counter, 2 * ROUNDS);
    return counter == 2 * ROUNDS ? 0 : 1;
}
