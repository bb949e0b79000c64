// Two threads of three operations each.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;

static void *first(void *argument) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_release);
  atomic_load_explicit(&x, memory_order_relaxed);
  return argument;
}

static void *second(void *argument) {
  atomic_load_explicit(&y, memory_order_acquire);
  atomic_load_explicit(&x, memory_order_relaxed);
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  return argument;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
