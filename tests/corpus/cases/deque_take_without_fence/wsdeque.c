#include "wsdeque.h"

static _Atomic(struct job *) *slot(struct wsdeque *dq, ptrdiff_t at)
{
    return &dq->jobs[(size_t)at % WSDEQUE_CAPACITY];
}

void wsdeque_init(struct wsdeque *dq)
{
    atomic_init(&dq->top, 0);
    atomic_init(&dq->bottom, 0);
    for (int i = 0; i < WSDEQUE_CAPACITY; i++)
        atomic_init(&dq->jobs[i], NULL);
}

int wsdeque_push(struct wsdeque *dq, struct job *job)
{
    ptrdiff_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    ptrdiff_t top = atomic_load_explicit(&dq->top, memory_order_acquire);

    if (bottom - top >= WSDEQUE_CAPACITY)
        return 0;
    atomic_store_explicit(slot(dq, bottom), job, memory_order_relaxed);
    atomic_store_explicit(&dq->bottom, bottom + 1, memory_order_release);
    return 1;
}

struct job *wsdeque_take(struct wsdeque *dq)
{
    ptrdiff_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed) - 1;
    ptrdiff_t top;
    struct job *job = NULL;

    atomic_store_explicit(&dq->bottom, bottom, memory_order_release);
    top = atomic_load_explicit(&dq->top, memory_order_acquire);
    if (top <= bottom) {
        job = atomic_load_explicit(slot(dq, bottom), memory_order_relaxed);
        if (top < bottom)
            return job;
        /* The last job: a thief may be after it, too. */
        if (!atomic_compare_exchange_strong_explicit(&dq->top, &top, top + 1,
                                                     memory_order_seq_cst, memory_order_relaxed))
            job = NULL;
    }
    atomic_store_explicit(&dq->bottom, bottom + 1, memory_order_release);
    return job;
}

struct job *wsdeque_steal(struct wsdeque *dq)
{
    ptrdiff_t top = atomic_load_explicit(&dq->top, memory_order_acquire);
    ptrdiff_t bottom;
    struct job *job;

    atomic_thread_fence(memory_order_seq_cst);
    bottom = atomic_load_explicit(&dq->bottom, memory_order_acquire);
    if (top >= bottom)
        return NULL;
    job = atomic_load_explicit(slot(dq, top), memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&dq->top, &top, top + 1,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return NULL;
    return job;
}
