#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int data;
static atomic_int ready;

static inline void put(atomic_int *p, int v, memory_order order)
{
    atomic_store_explicit(p, v, order);
}

static inline int get(atomic_int *p, memory_order order)
{
    return atomic_load_explicit(p, order);
}

static void *writer(void *unused)
{
    data = 42;
    put(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *reader(void *unused)
{
    if (get(&ready, memory_order_acquire))
        printf("%d\n", data);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&two, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
