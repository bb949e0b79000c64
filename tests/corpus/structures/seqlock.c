// A sequence lock whose writer does not order its data after the odd number, so that
// a reader may see new data and still the old number.
// expect: stale sequence
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int low, high;

static void write_pair(int value)
{
    unsigned number = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, number + 1, memory_order_relaxed);
    // A release fence is missing here.
    atomic_store_explicit(&low, value, memory_order_relaxed);
    atomic_store_explicit(&high, value, memory_order_relaxed);
    atomic_store_explicit(&sequence, number + 2, memory_order_release);
}

static int read_pair(int *one, int *two)
{
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    *one = atomic_load_explicit(&low, memory_order_relaxed);
    *two = atomic_load_explicit(&high, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    return before == after && before % 2 == 0;
}

static void *writer(void *arg)
{
    write_pair(1);
    write_pair(2);
    return arg;
}

static void *reader(void *arg)
{
    for (int i = 0; i < 2; i++) {
        int one, two;
        if (read_pair(&one, &two))
            assert(one == two);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
