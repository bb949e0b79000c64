// A spinning barrier whose last arrival opens it with a relaxed store.
// expect: race value
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 2 };

static atomic_int waiting, step;
static int value;

static void wait_for_all(void) {
  int before = atomic_load_explicit(&step, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed) == THREADS - 1) {
    atomic_store_explicit(&waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&step, before + 1, memory_order_relaxed);
    return;
  }
  while (atomic_load_explicit(&step, memory_order_relaxed) == before)
    sched_yield();
}

static void *writer(void *unused) {
  (void)unused;
  value = 1;
  wait_for_all();
  return 0;
}

static void *reader(void *unused) {
  (void)unused;
  wait_for_all();
  return value ? &value : 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
