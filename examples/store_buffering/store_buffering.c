/* Two people agree to meet. Each one says "I am here" and then looks for the
 * other. Whoever comes second must see the first: it cannot be that both look
 * and neither sees anybody. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int alice_is_here;
static atomic_int bob_is_here;
static int alice_saw_bob;
static int bob_saw_alice;

static void *alice(void *unused)
{
    atomic_store_explicit(&alice_is_here, 1, memory_order_release);
    alice_saw_bob = atomic_load_explicit(&bob_is_here, memory_order_acquire);
    return unused;
}

static void *bob(void *unused)
{
    atomic_store_explicit(&bob_is_here, 1, memory_order_release);
    bob_saw_alice = atomic_load_explicit(&alice_is_here, memory_order_acquire);
    return unused;
}

int main(void)
{
    pthread_t first;
    pthread_t second;
    pthread_create(&first, NULL, alice, NULL);
    pthread_create(&second, NULL, bob, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (!alice_saw_bob && !bob_saw_alice) {
        puts("both came, and neither saw the other");
        return 1;
    }
    puts("they have met");
    return 0;
}
