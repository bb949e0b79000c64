// Lamport's bakery: threads draw numbers and wait for the lower ones.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define THREADS 3

static atomic_bool entering[THREADS];
static atomic_int number[THREADS];
static int counter;

static void lock(int me) {
  int most = 0;
  atomic_store(&entering[me], true);
  for (int i = 0; i < THREADS; i++) {
    int other = atomic_load(&number[i]);
    if (other > most)
      most = other;
  }
  atomic_store(&number[me], most + 1);
  atomic_store(&entering[me], false);
  for (int i = 0; i < THREADS; i++) {
    while (atomic_load(&entering[i]))
      ;
    for (;;) {
      int other = atomic_load(&number[i]);
      if (other == 0 || other > most + 1 || (other == most + 1 && i >= me))
        break;
    }
  }
}

static void unlock(int me) {
  atomic_store_explicit(&number[me], 0, memory_order_release);
}

static void *worker(void *argument) {
  int me = (int)(long)argument;
  for (int i = 0; i < 2; i++) {
    lock(me);
    counter++;
    unlock(me);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, worker, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  assert(counter == 2 * THREADS);
  return 0;
}
