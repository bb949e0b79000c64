/* A ticket lock, tested by a counter that it guards. */
#include <wmfix/scenarios.h>

#include <stdatomic.h>

static struct {
    atomic_uint next, serving;
} lock;
static int counter;

static void acquire(void)
{
    unsigned ticket = atomic_fetch_add_explicit(&lock.next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&lock.serving, memory_order_acquire) != ticket) {
    }
}

static void release(void)
{
    unsigned ticket = atomic_load_explicit(&lock.serving, memory_order_relaxed);
    atomic_store_explicit(&lock.serving, ticket + 1, memory_order_release);
}

WMFIX_SETUP
{
    atomic_init(&lock.next, 0);
    atomic_init(&lock.serving, 0);
    counter = 0;
}
WMFIX_OPERATION(increment, any, (void))
{
    acquire();
    int now = ++counter;
    release();
    return now;
}
