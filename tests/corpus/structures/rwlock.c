// A reader-writer spin lock that is taken without acquiring, so that whoever holds it
// may see what was there before the last writer.
// expect: stale left
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define WRITER 256u

static atomic_uint lock;
static atomic_int left, right;

static void lock_to_write(void)
{
    unsigned nobody = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &nobody, WRITER, memory_order_relaxed,
                                                    memory_order_relaxed))
        nobody = 0;
}

static void unlock_written(void)
{
    atomic_fetch_sub_explicit(&lock, WRITER, memory_order_release);
}

static void lock_to_read(void)
{
    // This should acquire.
    while (atomic_fetch_add_explicit(&lock, 1, memory_order_relaxed) >= WRITER)
        atomic_fetch_sub_explicit(&lock, 1, memory_order_relaxed);
}

static void unlock_read(void)
{
    atomic_fetch_sub_explicit(&lock, 1, memory_order_release);
}

static void *writer(void *arg)
{
    lock_to_write();
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    unlock_written();
    return arg;
}

static void *reader(void *arg)
{
    lock_to_read();
    int one = atomic_load_explicit(&left, memory_order_relaxed);
    int two = atomic_load_explicit(&right, memory_order_relaxed);
    unlock_read();
    assert(one == two);
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
