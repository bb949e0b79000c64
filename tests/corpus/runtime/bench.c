// Nothing but atomics: `bench THREADS LOCATIONS OPERATIONS` has the threads
// share that many operations on that many locations, and prints the nanoseconds
// of one, by the clock and in processor time. Loads, stores and read-modify-writes of all orders take turns.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_long *objects;
static long locations, each;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *work(void *argument) {
  unsigned long random = (unsigned long)argument * 2654435761u + 1;
  for (long i = 0; i < each; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    atomic_long *object = &objects[(random >> 33) % (unsigned long)locations];
    switch (i & 7) {
    case 0: atomic_store_explicit(object, i, memory_order_release); break;
    case 1: case 2: atomic_load_explicit(object, memory_order_acquire); break;
    case 3: atomic_fetch_add_explicit(object, 1, memory_order_acq_rel); break;
    case 4: atomic_load_explicit(object, memory_order_relaxed); break;
    case 5: atomic_store_explicit(object, i, memory_order_relaxed); break;
    case 6: atomic_fetch_add_explicit(object, 1, memory_order_relaxed); break;
    default: atomic_load(object);
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  long threads = count > 1 ? atol(arguments[1]) : 2;
  locations = count > 2 ? atol(arguments[2]) : 10;
  long operations = count > 3 ? atol(arguments[3]) : 1000000;
  each = operations / threads;
  objects = calloc((size_t)locations, sizeof *objects);
  pthread_t *handles = malloc((size_t)threads * sizeof *handles);
  double start = now(CLOCK_MONOTONIC), busy = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < threads; i++) pthread_create(&handles[i], NULL, work, (void *)i);
  for (long i = 0; i < threads; i++) pthread_join(handles[i], NULL);
  double done = (double)(each * threads);
  printf("%.1f %.1f\n", (now(CLOCK_MONOTONIC) - start) / done,
         (now(CLOCK_PROCESS_CPUTIME_ID) - busy) / done);
  return 0;
}
