// Lidbury and Donaldson, "Dynamic Race Detection for C++11", figure 1 (c): two
// fences synchronise, so there is no race.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int x;

static void *writer(void *unused) {
  (void)unused;
  message = 1;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  return 0;
}

static void *reader(void *unused) {
  (void)unused;
  if (atomic_load_explicit(&x, memory_order_relaxed) == 1) {
    atomic_thread_fence(memory_order_acquire);
    return message ? &message : 0;
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
