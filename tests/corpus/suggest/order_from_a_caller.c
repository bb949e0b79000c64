#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int data;
static atomic_int ready;

static void publish(memory_order order)
{
    data = 42;
    atomic_store_explicit(&ready, 1, order);
}

static void *writer(void *unused)
{
    publish(memory_order_relaxed);
    return unused;
}

static void *reader(void *unused)
{
    while (atomic_load_explicit(&ready, memory_order_acquire) == 0)
        ;
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
