// Michael and Scott's queue with counted indices, and a test of four threads. The queue
// is right. What the test keeps is not: three of the threads put down what they sent and
// what they received in the same two words. The published program has that race, too.
// expect: race slots
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 4, NODES = THREADS + 1 };

struct node {
  int value;
  _Atomic uint64_t next;
};

static struct node nodes[NODES + 1]; // 0 is no node, 1 the first dummy
static _Atomic uint64_t head, tail;
static struct { int sent, received; } slots[2];

static uint32_t index_of(uint64_t link) { return (uint32_t)link; }

/* The link to a node that takes the place of another link. */
static uint64_t link_to(uint32_t node, uint64_t old) {
  return ((old >> 32) + 1) << 32 | node;
}

static void enqueue(uint32_t mine, int value) {
  nodes[mine].value = value;
  uint64_t last, none;
  for (;;) {
    last = atomic_load_explicit(&tail, memory_order_acquire);
    struct node *node = &nodes[index_of(last)];
    uint64_t next = atomic_load_explicit(&node->next, memory_order_acquire);
    if (last != atomic_load_explicit(&tail, memory_order_relaxed))
      continue;
    if (index_of(next)) {
      atomic_compare_exchange_strong_explicit(&tail, &last, link_to(index_of(next), last),
                                              memory_order_release, memory_order_relaxed);
      sched_yield();
      continue;
    }
    none = next;
    if (atomic_compare_exchange_strong_explicit(&node->next, &none, link_to(mine, next),
                                                memory_order_release, memory_order_relaxed))
      break;
  }
  atomic_compare_exchange_strong_explicit(&tail, &last, link_to(mine, last),
                                          memory_order_release, memory_order_relaxed);
}

static int dequeue(int *value) {
  for (;;) {
    uint64_t first = atomic_load_explicit(&head, memory_order_acquire);
    uint64_t last = atomic_load_explicit(&tail, memory_order_acquire);
    uint64_t next = atomic_load_explicit(&nodes[index_of(first)].next, memory_order_acquire);
    if (first != atomic_load_explicit(&head, memory_order_relaxed))
      continue;
    if (!index_of(next))
      return 0;
    if (index_of(first) == index_of(last)) {
      atomic_compare_exchange_strong_explicit(&tail, &last, link_to(index_of(next), last),
                                              memory_order_release, memory_order_relaxed);
      sched_yield();
      continue;
    }
    *value = nodes[index_of(next)].value;
    if (atomic_compare_exchange_strong_explicit(&head, &first, link_to(index_of(next), first),
                                                memory_order_release, memory_order_relaxed))
      return 1;
  }
}

static void *run(void *argument) {
  int number = (int)(intptr_t)argument;
  int slot = number != 0; // should be a slot for each thread
  slots[slot].sent = number ? 37 : 17;
  enqueue((uint32_t)number + 2, slots[slot].sent);
  dequeue(&slots[slot].received);
  return 0;
}

int main(void) {
  atomic_init(&head, 1);
  atomic_init(&tail, 1);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, run, (void *)(intptr_t)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return 0;
}
