#include "ring.h"

#include <sched.h>

void ring_send(struct ring *ring, struct packet packet)
{
    struct slot *slot = &ring->slots[ring->next_to_send++ % RING_SLOTS];
    while (atomic_load_explicit(&slot->full, memory_order_relaxed) != 0)
        sched_yield();
    slot->packet = packet;
    atomic_store_explicit(&slot->full, 1, memory_order_relaxed);
}

struct packet ring_receive(struct ring *ring)
{
    struct slot *slot = &ring->slots[ring->next_to_receive++ % RING_SLOTS];
    while (atomic_load_explicit(&slot->full, memory_order_relaxed) == 0)
        sched_yield();
    struct packet packet = slot->packet;
    atomic_store_explicit(&slot->full, 0, memory_order_relaxed);
    return packet;
}
