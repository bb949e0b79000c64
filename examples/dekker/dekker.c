/* The entry of Dekker's algorithm: raise my flag, then look at the other's. If
 * the other's flag is up, I lower mine and let it pass. A counter that is no
 * atomic is safe in there, for at most one of the two can be inside. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 4 };

static atomic_int ping_wants;
static atomic_int pong_wants;
static int counter; /* belongs to whoever is inside */

static void *ping(void *entered)
{
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store_explicit(&ping_wants, 1, memory_order_release);
        if (atomic_load_explicit(&pong_wants, memory_order_acquire) == 0) {
            counter++;
            ++*(int *)entered;
        }
        atomic_store_explicit(&ping_wants, 0, memory_order_release);
    }
    return NULL;
}

static void *pong(void *entered)
{
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store_explicit(&pong_wants, 1, memory_order_release);
        if (atomic_load_explicit(&ping_wants, memory_order_acquire) == 0) {
            counter++;
            ++*(int *)entered;
        }
        atomic_store_explicit(&pong_wants, 0, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_t other;
    int ping_entered = 0;
    int pong_entered = 0;
    pthread_create(&one, NULL, ping, &ping_entered);
    pthread_create(&other, NULL, pong, &pong_entered);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    if (counter != ping_entered + pong_entered) {
        puts("two were inside at once: a count was lost");
        return 1;
    }
    puts("every entry was counted");
    return 0;
}
