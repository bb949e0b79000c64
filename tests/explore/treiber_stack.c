// Treiber's stack with counted indices: two threads push, one pops. What is pushed
// names a word that its owner wrote before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic uint64_t top, next[4];
static atomic_int word[4];

static void push(uint64_t mine) {
    uint64_t old = atomic_load(&top);
    do {
        atomic_store(&next[mine], old);
    } while (!atomic_compare_exchange_strong(&top, &old, ((old >> 32) + 1) << 32 | mine));
}

static uint64_t pop(void) {
    uint64_t old = atomic_load(&top);
    while ((uint32_t)old) {
        uint64_t below = atomic_load(&next[(uint32_t)old]);
        uint64_t wanted = ((old >> 32) + 1) << 32 | (uint32_t)below;
        if (atomic_compare_exchange_strong(&top, &old, wanted)) break;
    }
    return (uint32_t)old;
}

static void *pusher(void *p) {
    uint64_t mine = (uint64_t)(intptr_t)p;
    atomic_store(&word[mine], 42);
    push(mine);
    return 0;
}

static void *popper(void *p) {
    uint64_t found = pop();
    if (found) assert(atomic_load(&word[found]) == 42);
    return p;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, pusher, (void *)1);
    pthread_create(&b, 0, pusher, (void *)2);
    pthread_create(&c, 0, popper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
