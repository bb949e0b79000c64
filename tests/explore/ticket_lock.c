// A lock with tickets: two threads take it once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static int shared;
static atomic_int next, owner;

static void lock(void) {
    int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&owner, memory_order_acquire) != mine) ;
}

static void unlock(void) {
    int mine = atomic_load_explicit(&owner, memory_order_relaxed);
    atomic_store_explicit(&owner, mine + 1, memory_order_release);
}

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
