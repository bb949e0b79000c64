/* A seqlock with one writer and one reader. Without the reader's fence the
 * second look at the counter may be stale; -DFENCE puts it in. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint counter;
static atomic_int left, right;
static int seen_left, seen_right, valid;

static void *writer(void *arg)
{
    (void)arg;
    atomic_store_explicit(&counter, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_store_explicit(&counter, 2, memory_order_release);
    return 0;
}

static void *reader(void *arg)
{
    (void)arg;
    unsigned before = atomic_load_explicit(&counter, memory_order_acquire);
    if (before & 1)
        return 0;
    seen_left = atomic_load_explicit(&left, memory_order_relaxed);
    seen_right = atomic_load_explicit(&right, memory_order_relaxed);
#ifdef FENCE
    atomic_thread_fence(memory_order_acquire);
#endif
    unsigned after = atomic_load_explicit(&counter, memory_order_relaxed);
    valid = before == after;
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return valid && seen_left != seen_right;
}
