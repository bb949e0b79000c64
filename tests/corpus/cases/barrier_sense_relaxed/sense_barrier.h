/* A barrier for threads that work in phases. The sense changes with every phase,
 * so the barrier can be used again at once. */
#ifndef SENSE_BARRIER_H
#define SENSE_BARRIER_H

#include "u32.h"

struct sense_barrier {
    u32 arrived;
    uint32_t parties;
    u32 sense;
};

/* Each thread has one. */
struct sense_party {
    uint32_t sense;
};

void sense_barrier_init(struct sense_barrier *barrier, uint32_t parties);
void sense_party_init(struct sense_party *party);

/* Returns 1 in the thread that came last. */
int sense_barrier_wait(struct sense_barrier *barrier, struct sense_party *party);

#endif
