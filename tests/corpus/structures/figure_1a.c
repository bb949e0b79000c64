// Lidbury and Donaldson, "Dynamic Race Detection for C++11", figure 1 (a): a
// relaxed store of another thread ends the release sequence.
// expect: race message
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int x;

static void *first(void *unused) {
  (void)unused;
  message = 1;
  atomic_store_explicit(&x, 1, memory_order_release);
  return 0;
}

static void *second(void *unused) {
  (void)unused;
  if (atomic_load_explicit(&x, memory_order_acquire) == 1)
    atomic_store_explicit(&x, 2, memory_order_relaxed);
  return 0;
}

static void *third(void *unused) {
  (void)unused;
  if (atomic_load_explicit(&x, memory_order_acquire) == 2)
    return message ? &message : 0;
  return 0;
}

int main(void) {
  void *(*bodies[])(void *) = {first, second, third};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, bodies[i], 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
