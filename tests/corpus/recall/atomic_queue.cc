// Instantiates the bounded queues in their variants.
#include <atomic_queue/atomic_queue.h>
#include <atomic_queue/spinlock.h>

template <class Queue> int use(Queue& queue) {
  typename Queue::value_type out{};
  queue.push(1);
  if (queue.try_push(2)) queue.try_pop(out);
  out += queue.pop();
  return static_cast<int>(out + queue.was_size() + queue.was_empty() + queue.was_full());
}

int all() {
  atomic_queue::AtomicQueue<unsigned, 64> a;
  atomic_queue::AtomicQueue<unsigned, 64, 0u, true, true, true, true> spsc;
  atomic_queue::AtomicQueue2<unsigned, 64> b;
  atomic_queue::AtomicQueue2<unsigned, 64, true, false, true, true> b_spsc;
  atomic_queue::AtomicQueueB<unsigned> c(64);
  atomic_queue::AtomicQueueB2<unsigned> d(64);
  atomic_queue::Spinlock spin;
  spin.lock();
  spin.unlock();
  atomic_queue::TicketSpinlock ticket;
  ticket.unlock(ticket.lock());
  return use(a) + use(spsc) + use(b) + use(b_spsc) + use(c) + use(d);
}
