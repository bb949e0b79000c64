// A linked queue whose nodes are linked with a relaxed compare-exchange.
// expect: race value
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
  int value;
  _Atomic(struct node *) next;
};

static _Atomic(struct node *) head, tail;

static struct node *new_node(int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  atomic_init(&node->next, NULL);
  return node;
}

static void enqueue(int value) {
  struct node *node = new_node(value);
  for (;;) {
    struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
    struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
    if (next) {
      atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release,
                                              memory_order_relaxed);
      continue;
    }
    if (atomic_compare_exchange_strong_explicit(&last->next, &next, node,
                                                memory_order_relaxed, // should release
                                                memory_order_relaxed)) {
      atomic_compare_exchange_strong_explicit(&tail, &last, node, memory_order_relaxed,
                                              memory_order_relaxed);
      return;
    }
  }
}

static int dequeue(void) {
  for (;;) {
    struct node *first = atomic_load_explicit(&head, memory_order_acquire);
    struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
    if (!next)
      return 0;
    if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_release,
                                                memory_order_relaxed))
      return next->value;
  }
}

static void *run(void *unused) {
  (void)unused;
  int sum = 0;
  for (int i = 1; i <= 3; i++) {
    enqueue(i);
    sum += dequeue();
  }
  return sum ? &head : 0;
}

int main(void) {
  struct node *dummy = new_node(0);
  atomic_init(&head, dummy);
  atomic_init(&tail, dummy);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
