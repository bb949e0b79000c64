/* A ring for one producer and one consumer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 2, ITEMS = 6 };

static int slots[SIZE];
static atomic_uint head, tail;

static int push(int item)
{
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    if (at - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        return 0;
    slots[at % SIZE] = item;
    atomic_store_explicit(&tail, at + 1, memory_order_release);
    return 1;
}

static int pop(int *item)
{
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    if (at == atomic_load_explicit(&tail, memory_order_acquire))
        return 0;
    *item = slots[at % SIZE];
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return 1;
}

static void *produce(void *unused)
{
    for (int item = 1; item <= ITEMS;)
        item += push(item);
    return unused;
}

int main(void)
{
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    for (int expected = 1; expected <= ITEMS;) {
        int item;
        if (pop(&item))
            assert(item == expected++);
    }
    pthread_join(producer, 0);
    return 0;
}
