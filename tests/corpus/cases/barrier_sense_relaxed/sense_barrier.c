#include "sense_barrier.h"

#include <sched.h>

void sense_barrier_init(struct sense_barrier *barrier, uint32_t parties)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->sense, 0);
    barrier->parties = parties;
}

void sense_party_init(struct sense_party *party)
{
    party->sense = 0;
}

int sense_barrier_wait(struct sense_barrier *barrier, struct sense_party *party)
{
    uint32_t sense = !party->sense;

    party->sense = sense;
    if (u32_add(&barrier->arrived, 1, memory_order_acq_rel) + 1 == barrier->parties) {
        u32_store(&barrier->arrived, 0, memory_order_relaxed);
        u32_store(&barrier->sense, sense, memory_order_relaxed);
        return 1;
    }
    while (u32_load(&barrier->sense, memory_order_relaxed) != sense)
        sched_yield();
    return 0;
}
