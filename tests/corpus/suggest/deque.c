#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 8
#define EMPTY (-1)
#define ABORT (-2)

static atomic_long top, bottom;
static atomic_int buffer[SIZE];

static void push(int task) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&buffer[b % SIZE], task, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int task = atomic_load_explicit(&buffer[b % SIZE], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_relaxed, memory_order_relaxed))
            task = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return task;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    if (t >= b)
        return EMPTY;
    int task = atomic_load_explicit(&buffer[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_relaxed, memory_order_relaxed))
        return ABORT;
    return task;
}

static int payload[4];
static atomic_int done;

static void run(int task) {
    if (task >= 0) {
        payload[task]++;
        atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
    }
}

static void *owner(void *unused) {
    for (int i = 0; i < 3; i++)
        push(i);
    for (int i = 0; i < 3; i++)
        run(take());
    return unused;
}

static void *thief(void *unused) {
    for (int i = 0; i < 2; i++)
        run(steal());
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
