// The library that plugin_host.c loads.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int own;

static void *work(void *argument) {
  for (int i = 0; i < 10; i++) atomic_fetch_add((atomic_int *)argument, 1);
  atomic_fetch_add(&own, 5);
  return NULL;
}

int run(atomic_int *counter) {
  atomic_store(&own, 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, counter);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return atomic_load(&own);
}
