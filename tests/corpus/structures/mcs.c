// A queue lock. The hand-over to a waiting thread is relaxed.
// expect: race shared
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
  _Atomic(struct node *) next;
  atomic_int locked;
};

static _Atomic(struct node *) tail;
static int shared;

static void lock(struct node *me) {
  atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&me->locked, 1, memory_order_relaxed);
  struct node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
  if (!before)
    return;
  atomic_store_explicit(&before->next, me, memory_order_release);
  while (atomic_load_explicit(&me->locked, memory_order_acquire))
    sched_yield();
}

static void unlock(struct node *me) {
  struct node *next = atomic_load_explicit(&me->next, memory_order_acquire);
  if (!next) {
    struct node *expected = me;
    if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release,
                                                memory_order_relaxed))
      return;
    while (!(next = atomic_load_explicit(&me->next, memory_order_acquire)))
      sched_yield();
  }
  atomic_store_explicit(&next->locked, 0, memory_order_relaxed); // should release
}

static void *run(void *unused) {
  (void)unused;
  struct node node;
  for (int i = 0; i < 3; i++) {
    lock(&node);
    shared++;
    unlock(&node);
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
