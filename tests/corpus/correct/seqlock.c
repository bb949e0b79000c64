/* A sequence lock: readers try again if a writer was there meanwhile. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int a, b;

static void write_both(int value)
{
    unsigned at = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, at + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&a, value, memory_order_relaxed);
    atomic_store_explicit(&b, value, memory_order_relaxed);
    atomic_store_explicit(&sequence, at + 2, memory_order_release);
}

static void read_both(int *first, int *second)
{
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        int one = atomic_load_explicit(&a, memory_order_relaxed);
        int other = atomic_load_explicit(&b, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            *first = one;
            *second = other;
            return;
        }
    }
}

static void *writer(void *unused)
{
    for (int value = 1; value <= 3; value++)
        write_both(value);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    for (int i = 0; i < 3; i++) {
        int first, second;
        read_both(&first, &second);
        assert(first == second);
    }
    pthread_join(thread, 0);
    return 0;
}
