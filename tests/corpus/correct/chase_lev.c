/* The work-stealing deque of Chase and Lev with the memory orders of Lê, Pop,
   Cohen and Zappa Nardelli (Correct and Efficient Work-Stealing for Weak Memory
   Models, PPoPP 2013), without growing. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIZE = 8, TASKS = 4, EMPTY = -1, ABORT = -2 };

static atomic_size_t top = 1, bottom = 1;
static atomic_int buffer[SIZE];
static atomic_int done[TASKS];

static int take(void)
{
    size_t b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    size_t t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int task = atomic_load_explicit(&buffer[b % SIZE], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                     memory_order_relaxed))
            task = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return task;
}

static void push(int task)
{
    size_t b = atomic_load_explicit(&bottom, memory_order_relaxed);
    size_t t = atomic_load_explicit(&top, memory_order_acquire);
    assert(b - t < SIZE);
    atomic_store_explicit(&buffer[b % SIZE], task, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int steal(void)
{
    size_t t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    size_t b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int task = atomic_load_explicit(&buffer[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return ABORT;
    return task;
}

static void run(int task)
{
    if (task >= 0)
        atomic_fetch_add_explicit(&done[task], 1, memory_order_relaxed);
}

static void *thief(void *unused)
{
    for (int i = 0; i < 4; i++)
        run(steal());
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, thief, 0);
    for (int task = 0; task < TASKS; task++) {
        push(task);
        if (task % 2)
            run(take());
    }
    for (int task; (task = take()) != EMPTY;)
        run(task);
    pthread_join(thread, 0);
    for (int task; (task = take()) != EMPTY;)
        run(task);
    for (int task = 0; task < TASKS; task++)
        assert(atomic_load(&done[task]) == 1);
    return 0;
}
