/* A ticket lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next_ticket, now_serving;
static int counter;

static void lock(void)
{
    unsigned ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&now_serving, memory_order_acquire) != ticket)
        ;
}

static void unlock(void)
{
    unsigned next = atomic_load_explicit(&now_serving, memory_order_relaxed) + 1;
    atomic_store_explicit(&now_serving, next, memory_order_release);
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        lock();
        counter++;
        unlock();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(counter == 6);
    return 0;
}
