/* A message that is published with a flag. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int ready;

static void *send(void *unused)
{
    message = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, send, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    assert(message == 42);
    pthread_join(thread, 0);
    return 0;
}
