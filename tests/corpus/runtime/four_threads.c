// Four threads that use atomics, a mutex, a condition, a semaphore, sleeps and
// yields: the run that must come out the same for the same seed.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int counter, flag, winner;
static _Atomic(int *) pointer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ready;
static int *replaced[5];

static void *work(void *argument) {
  int me = (int)(long)argument;
  for (int i = 0; i < 20; i++) {
    atomic_fetch_add_explicit(&counter, me, memory_order_relaxed);
    int expected = atomic_load_explicit(&winner, memory_order_acquire);
    atomic_compare_exchange_weak_explicit(&winner, &expected, me, memory_order_acq_rel,
                                          memory_order_relaxed);
    if (i == 5) usleep(100 * me);
    if (i == 10) {
      pthread_mutex_lock(&mutex);
      ready++;
      if (ready == 4) pthread_cond_broadcast(&condition);
      while (ready < 4) pthread_cond_wait(&condition, &mutex);
      pthread_mutex_unlock(&mutex);
    }
    if (me == 1 && i == 12) atomic_store_explicit(&flag, 1, memory_order_release);
    if (me == 2 && i == 12)
      while (!atomic_load_explicit(&flag, memory_order_acquire)) sched_yield();
    if (me == 3) sem_post(&semaphore);
    if (me == 4) sem_wait(&semaphore);
    atomic_thread_fence(memory_order_seq_cst);
  }
  int *mine = malloc(sizeof *mine);
  *mine = me;
  // Freed by main alone: which memory is used again is up to the library.
  replaced[me] = atomic_exchange(&pointer, mine);
  return NULL;
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  assert(counter == 20 * (1 + 2 + 3 + 4));
  printf("%d %d\n", winner, *pointer);
  for (int i = 1; i <= 4; i++) free(replaced[i]);
  return 0;
}
