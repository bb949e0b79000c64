#include "clh.h"

#include <sched.h>

void clh_init(struct clh_lock *lock)
{
    atomic_init(&lock->first.busy, 0);
    atomic_init(&lock->tail, &lock->first);
}

void clh_handle_init(struct clh_handle *handle, struct clh_node *node)
{
    atomic_init(&node->busy, 0);
    handle->mine = node;
    handle->before = 0;
}

void clh_acquire(struct clh_lock *lock, struct clh_handle *handle)
{
    struct clh_node *before;

    atomic_store_explicit(&handle->mine->busy, 1, memory_order_relaxed);
    before = atomic_exchange_explicit(&lock->tail, handle->mine, memory_order_acquire);
    while (atomic_load_explicit(&before->busy, memory_order_acquire))
        sched_yield();
    handle->before = before;
}

void clh_release(struct clh_handle *handle)
{
    struct clh_node *mine = handle->mine;

    /* The node of the thread before us is free now; ours is being watched. */
    handle->mine = handle->before;
    atomic_store_explicit(&mine->busy, 0, memory_order_release);
}
