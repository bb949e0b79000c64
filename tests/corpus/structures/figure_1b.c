// Lidbury and Donaldson, "Dynamic Race Detection for C++11", figure 1 (b): two
// relaxed stores may be seen out of order.
// expect: stale x
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *writer(void *unused) {
  (void)unused;
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return 0;
}

static void *reader(void *unused) {
  (void)unused;
  int saw_y = atomic_load_explicit(&y, memory_order_relaxed);
  int saw_x = atomic_load_explicit(&x, memory_order_relaxed);
  return saw_y && !saw_x ? &x : 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  void *failed = 0;
  pthread_join(threads[0], 0);
  pthread_join(threads[1], &failed);
  return failed != 0;
}
