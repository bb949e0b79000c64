#include "ebr.h"

#include <assert.h>

void ebr_init(struct ebr *ebr, void (*destroy)(void *object))
{
    atomic_init(&ebr->epoch, 2);
    for (int i = 0; i < EBR_READERS; i++)
        atomic_init(&ebr->reader[i].state, 0);
    ebr->destroy = destroy;
    ebr->count = 0;
}

void ebr_pin(struct ebr *ebr, int reader)
{
    unsigned long epoch = ebr_load(&ebr->epoch, memory_order_relaxed);

    ebr_store(&ebr->reader[reader].state, epoch * 2 + 1, memory_order_release);
}

void ebr_unpin(struct ebr *ebr, int reader)
{
    ebr_store(&ebr->reader[reader].state, 0, memory_order_release);
}

static void collect(struct ebr *ebr, unsigned long epoch)
{
    int kept = 0;

    for (int i = 0; i < ebr->count; i++) {
        if (epoch - ebr->pending[i].epoch >= 2)
            ebr->destroy(ebr->pending[i].object);
        else
            ebr->pending[kept++] = ebr->pending[i];
    }
    ebr->count = kept;
}

int ebr_try_advance(struct ebr *ebr)
{
    unsigned long epoch = ebr_load(&ebr->epoch, memory_order_relaxed);

    /* What was retired is unlinked for every reader that pins from here on. */
    ebr_fence(memory_order_seq_cst);
    for (int i = 0; i < EBR_READERS; i++) {
        unsigned long state = ebr_load(&ebr->reader[i].state, memory_order_acquire);
        if ((state & 1) && state / 2 != epoch)
            return 0;
    }
    ebr_store(&ebr->epoch, epoch + 1, memory_order_release);
    collect(ebr, epoch + 1);
    return 1;
}

void ebr_retire(struct ebr *ebr, void *object)
{
    assert(ebr->count < EBR_PENDING);
    ebr->pending[ebr->count].object = object;
    ebr->pending[ebr->count].epoch = ebr_load(&ebr->epoch, memory_order_relaxed);
    ebr->count++;
    ebr_try_advance(ebr);
}

void ebr_drain(struct ebr *ebr)
{
    for (int i = 0; i < ebr->count; i++)
        ebr->destroy(ebr->pending[i].object);
    ebr->count = 0;
}
