/* A spin lock for readers and writers: the top bit is a writer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define WRITER 0x80000000u

static atomic_uint state;
static int one, other;

static void read_lock(void)
{
    for (;;) {
        unsigned seen = atomic_load_explicit(&state, memory_order_relaxed);
        if (!(seen & WRITER)
            && atomic_compare_exchange_weak_explicit(&state, &seen, seen + 1,
                                                     memory_order_acquire, memory_order_relaxed))
            return;
    }
}

static void read_unlock(void)
{
    atomic_fetch_sub_explicit(&state, 1, memory_order_release);
}

static void write_lock(void)
{
    unsigned free = 0;
    while (!atomic_compare_exchange_weak_explicit(&state, &free, WRITER, memory_order_acquire,
                                                  memory_order_relaxed))
        free = 0;
}

static void write_unlock(void)
{
    atomic_store_explicit(&state, 0, memory_order_release);
}

static void *writer(void *unused)
{
    for (int i = 0; i < 2; i++) {
        write_lock();
        one++;
        other++;
        write_unlock();
    }
    return unused;
}

static void *reader(void *unused)
{
    for (int i = 0; i < 2; i++) {
        read_lock();
        assert(one == other);
        read_unlock();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_create(&threads[2], 0, reader, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(one == 2 && other == 2);
    return 0;
}
