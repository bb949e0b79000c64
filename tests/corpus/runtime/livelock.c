// Two threads that each wait for the other to set a flag first.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flags[2];

static void *work(void *argument) {
  long me = (long)argument;
  while (!atomic_load_explicit(&flags[1 - me], memory_order_acquire)) {}
  atomic_store_explicit(&flags[me], 1, memory_order_release);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
