// A thread waits for a value that never comes, another one keeps writing the old.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

atomic_int flag;

static void *wait(void *argument) {
  int rounds = 0;
  while (!atomic_load_explicit(&flag, memory_order_acquire) && ++rounds < 100000) {}
  printf("%d\n", rounds);
  return argument;
}

static void *work(void *argument) {
  for (int i = 0; i < 10; i++) atomic_store_explicit(&flag, 0, memory_order_release);
  return argument;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, wait, NULL);
  pthread_create(&threads[1], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
