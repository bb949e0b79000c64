// A bounded queue of many producers and consumers. Publishing a slot is relaxed.
// expect: race slots
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 2, ITEMS = 2 };

static int slots[SIZE];
static atomic_uint read_index, write_index, written, read;

static int *prepare_write(void) {
  unsigned at = atomic_load_explicit(&write_index, memory_order_relaxed);
  for (;;) {
    unsigned done = atomic_load_explicit(&read, memory_order_acquire);
    if (at - done >= SIZE) {
      sched_yield();
      at = atomic_load_explicit(&write_index, memory_order_relaxed);
    } else if (atomic_compare_exchange_weak_explicit(&write_index, &at, at + 1,
                                                     memory_order_acq_rel,
                                                     memory_order_relaxed)) {
      return &slots[at % SIZE];
    }
  }
}

static void publish(void) {
  atomic_fetch_add_explicit(&written, 1, memory_order_relaxed); // should release
}

static int *fetch(void) {
  unsigned at = atomic_load_explicit(&read_index, memory_order_relaxed);
  while (at != atomic_load_explicit(&written, memory_order_acquire)) {
    if (atomic_compare_exchange_weak_explicit(&read_index, &at, at + 1, memory_order_acq_rel,
                                              memory_order_relaxed))
      return &slots[at % SIZE];
  }
  return 0;
}

static void consumed(void) { atomic_fetch_add_explicit(&read, 1, memory_order_release); }

static void *run(void *unused) {
  (void)unused;
  int sum = 0;
  for (int i = 0; i < ITEMS; i++) {
    *prepare_write() = i + 1;
    publish();
    int *slot = fetch();
    if (slot) {
      sum += *slot;
      consumed();
    }
  }
  return sum ? slots : 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
