#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int x, y, mine[2];
static int a, b;

static void put(atomic_int *at, int value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

static int get(atomic_int *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void count(int me)
{
    for (int i = 0; i < 50; i++)
        put(&mine[me], get(&mine[me]) + 1);
}

static void *first(void *unused)
{
    count(0);
    put(&x, 1);
    a = get(&y);
    return unused;
}

static void *second(void *unused)
{
    count(1);
    put(&y, 1);
    b = get(&x);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("%d %d\n", a, b);
    return 0;
}
