#include "tring.h"

#include <string.h>

void tring_init(struct tring *r)
{
    memset(r->slot, 0, sizeof r->slot);
    r->dropped = 0;
    atomic_init(&r->head, 0);
    atomic_init(&r->tail, 0);
}

int tring_put(struct tring *r, const struct tring_record *record)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    /* Pairs with the fence in tring_get(): the slot is really free. */
    atomic_thread_fence(memory_order_acquire);
    if (tail - head == TRING_SLOTS) {
        r->dropped++;
        return 0;
    }
    r->slot[tail % TRING_SLOTS] = *record;
    atomic_store_explicit(&r->tail, tail + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return 1;
}

int tring_get(struct tring *r, struct tring_record *record)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    if (head == tail)
        return 0;
    /* The record must not be read before the tail that covers it. */
    atomic_thread_fence(memory_order_acquire);
    *record = r->slot[head % TRING_SLOTS];
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&r->head, head + 1, memory_order_relaxed);
    return 1;
}
