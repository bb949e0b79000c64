// Mellor-Crummey's and Scott's lock: two threads take it once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static int shared;
struct waiter {
    _Atomic(struct waiter *) next;
    atomic_int go;
};
static struct waiter waiters[2];
static _Atomic(struct waiter *) last;

static void lock(struct waiter *me) {
    atomic_store(&me->next, 0);
    atomic_store(&me->go, 0);
    struct waiter *before = atomic_exchange(&last, me);
    if (!before) return;
    atomic_store(&before->next, me);
    while (!atomic_load(&me->go)) ;
}

static void unlock(struct waiter *me) {
    struct waiter *after = atomic_load(&me->next);
    if (!after) {
        struct waiter *expected = me;
        if (atomic_compare_exchange_strong(&last, &expected, 0)) return;
        while (!(after = atomic_load(&me->next))) ;
    }
    atomic_store(&after->go, 1);
}

static void *client(void *p) {
    int mine = (int)(intptr_t)p;
    lock(&waiters[mine]);
    shared = mine;
    assert(shared == mine);
    unlock(&waiters[mine]);
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
