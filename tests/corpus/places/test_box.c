#include <pthread.h>

#include "box.h"

static struct box box;
static atomic_int x, y;
static int a, b;

static void *putter(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    box_put(&box, 42);
    return unused;
}

static void *taker(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return box_take(&box) == 42 ? unused : 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, putter, 0);
    pthread_create(&two, 0, taker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return a + b > 2;
}
