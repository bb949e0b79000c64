// A lock that looks before it sets: two threads take it once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static int shared;
static atomic_int state;

static void lock(void) {
    for (;;) {
        while (atomic_load_explicit(&state, memory_order_relaxed) != 0) ;
        if (!atomic_exchange_explicit(&state, 1, memory_order_acquire)) return;
    }
}

static void unlock(void) { atomic_store_explicit(&state, 0, memory_order_release); }

static void *client(void *p) {
    int mine = (int)(intptr_t)p;
    lock();
    shared = mine;
    assert(shared == mine);
    unlock();
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, client, (void *)0);
    pthread_create(&b, 0, client, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
