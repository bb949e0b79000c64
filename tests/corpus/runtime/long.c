// Makes as many events as its argument says, in two threads.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long counter;

static void *work(void *argument) {
  for (long i = 0; i < (long)argument; i++)
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  return NULL;
}

int main(int count, char **arguments) {
  long each = count > 1 ? atol(arguments[1]) / 2 : 1000;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)each);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(counter == 2 * each);
  puts("ok");
  return 0;
}
