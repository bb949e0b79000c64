/* A work-stealing deque of jobs. The worker that owns it pushes and takes at the
 * bottom, others steal at the top. Fixed capacity: a push into a full deque fails
 * and the worker runs the job itself. */
#ifndef WSDEQUE_H
#define WSDEQUE_H

#include <stdatomic.h>
#include <stddef.h>

#define WSDEQUE_CAPACITY 16

struct job {
    void (*run)(struct job *job);
    int state;
};

struct wsdeque {
    _Atomic ptrdiff_t top;
    char pad[56];
    _Atomic ptrdiff_t bottom;
    _Atomic(struct job *) jobs[WSDEQUE_CAPACITY];
};

void wsdeque_init(struct wsdeque *dq);
int wsdeque_push(struct wsdeque *dq, struct job *job);
struct job *wsdeque_take(struct wsdeque *dq);
struct job *wsdeque_steal(struct wsdeque *dq);

#endif
