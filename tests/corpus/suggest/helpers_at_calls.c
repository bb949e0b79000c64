#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int left, right, other;
static int got[2];

static inline void put(atomic_int *to, int value)
{
    atomic_store_explicit(to, value, memory_order_release);
}

static inline int get(atomic_int *from)
{
    return atomic_load_explicit(from, memory_order_acquire);
}

static void *first(void *unused)
{
    for (int i = 0; i < 8; i++)
        put(&other, i);
    put(&left, 1);
    got[0] = get(&right);
    return unused;
}

static void *second(void *unused)
{
    for (int i = 0; i < 8; i++)
        get(&other);
    put(&right, 1);
    got[1] = get(&left);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return got[0] + got[1] == 0;
}
