// Michael and Scott's queue with counted indices: two threads, each puts one value in
// and takes one out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct node { int value; _Atomic uint64_t next; };
static struct node nodes[4];
static _Atomic uint64_t head, tail;

static uint64_t made(uint64_t index, uint64_t link) { return ((link >> 32) + 1) << 32 | index; }
static uint32_t index_of(uint64_t link) { return (uint32_t)link; }

static void put(uint32_t mine, int value) {
    nodes[mine].value = value;
    for (;;) {
        uint64_t last = atomic_load(&tail);
        uint64_t next = atomic_load(&nodes[index_of(last)].next);
        if (last != atomic_load(&tail)) continue;
        if (index_of(next)) {
            atomic_compare_exchange_strong(&tail, &last, made(index_of(next), last));
        } else if (atomic_compare_exchange_strong(&nodes[index_of(last)].next, &next,
                                                  made(mine, next))) {
            atomic_compare_exchange_strong(&tail, &last, made(mine, last));
            return;
        }
    }
}

static int take(void) {
    for (;;) {
        uint64_t first = atomic_load(&head);
        uint64_t last = atomic_load(&tail);
        uint64_t next = atomic_load(&nodes[index_of(first)].next);
        if (first != atomic_load(&head)) continue;
        if (index_of(first) != index_of(last)) {
            int value = nodes[index_of(next)].value;
            if (atomic_compare_exchange_strong(&head, &first, made(index_of(next), first)))
                return value;
        } else if (index_of(next)) {
            atomic_compare_exchange_strong(&tail, &last, made(index_of(next), last));
        } else {
            return 0;
        }
    }
}

static void *client(void *p) {
    int mine = (int)(intptr_t)p;
    put((uint32_t)mine + 1, mine);
    assert(take() != 0);
    return 0;
}

int main(void) {
    atomic_init(&head, 1);
    atomic_init(&tail, 1);
    pthread_t a, b;
    pthread_create(&a, 0, client, (void *)1);
    pthread_create(&b, 0, client, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
