// Uses every part of the package, so that every template is compiled.
#include "atomic_queue/atomic_queue.h"
#include "atomic_queue/atomic_queue_mutex.h"
#include "atomic_queue/barrier.h"
#include "atomic_queue/spinlock.h"

#include <cstdio>

template <class Queue>
int use(Queue &queue) {
    int value = 0;
    queue.try_push(1);
    queue.push(2);
    queue.try_pop(value);
    return 10 * value + queue.pop() + static_cast<int>(queue.was_size()) + queue.was_empty() + queue.was_full();
}

int main() {
    atomic_queue::AtomicQueue<int, 16> one;
    atomic_queue::AtomicQueue2<int, 16> two;
    atomic_queue::AtomicQueueB<int> three(16);
    atomic_queue::AtomicQueueB2<int> four(16);
    atomic_queue::AtomicQueue<int, 16, 0, true, true, true, true> five;
    atomic_queue::AtomicQueueSpinlock<int, 16> six;
    atomic_queue::Barrier barrier;
    atomic_queue::TicketSpinlock ticket;
    ticket.lock();
    ticket.unlock();
    barrier.release(0);
    std::printf("%d %d %d %d %d %d\n", use(one), use(two), use(three), use(four), use(five), six.try_push(3));
    return 0;
}
