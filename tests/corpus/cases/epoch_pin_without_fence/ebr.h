/* Epoch-based reclamation for one writer and a few readers. A reader pins the
 * epoch while it looks at shared objects; the writer frees what it has retired
 * when all readers have moved two epochs on. */
#ifndef EBR_H
#define EBR_H

#include "ebr_atomic.h"

#define EBR_READERS 2
#define EBR_PENDING 16

struct ebr_reader {
    atomic_ulong state; /* epoch * 2 + 1 while pinned, else 0 */
    char pad[56];
};

struct ebr_retired {
    void *object;
    unsigned long epoch;
};

struct ebr {
    atomic_ulong epoch;
    struct ebr_reader reader[EBR_READERS];
    void (*destroy)(void *object);
    struct ebr_retired pending[EBR_PENDING];
    int count;
};

void ebr_init(struct ebr *ebr, void (*destroy)(void *object));
void ebr_pin(struct ebr *ebr, int reader);
void ebr_unpin(struct ebr *ebr, int reader);

/* The writer's. */
void ebr_retire(struct ebr *ebr, void *object);
int ebr_try_advance(struct ebr *ebr);
void ebr_drain(struct ebr *ebr);

#endif
