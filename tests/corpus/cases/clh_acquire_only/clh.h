/* A CLH queue lock: every waiter spins on the node of the thread before it, so a
 * hand-over touches one cache line. A thread that leaves takes its predecessor's
 * node for the next time. */
#ifndef CLH_H
#define CLH_H

#include <stdatomic.h>

struct clh_node {
    atomic_int busy;
    char pad[60];
};

struct clh_lock {
    _Atomic(struct clh_node *) tail;
    struct clh_node first;
};

/* Each thread has one of these for each lock that it uses. */
struct clh_handle {
    struct clh_node *mine;
    struct clh_node *before;
};

void clh_init(struct clh_lock *lock);
void clh_handle_init(struct clh_handle *handle, struct clh_node *node);
void clh_acquire(struct clh_lock *lock, struct clh_handle *handle);
void clh_release(struct clh_handle *handle);

#endif
