// A gauge with its peak, and when it last changed: that differs from run to run.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_long current, peak, changed;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void add(long amount) {
  long sum = atomic_fetch_add_explicit(&current, amount, memory_order_relaxed) + amount;
  long most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (most < sum && !atomic_compare_exchange_weak_explicit(&peak, &most, sum, memory_order_relaxed,
                                                              memory_order_relaxed))
    ;
  atomic_exchange_explicit(&changed, now(), memory_order_relaxed);
}

static void *worker(void *unused) {
  for (int i = 0; i < 4; i++) {
    add(2);
    add(-1);
  }
  for (int i = 0; i < 4; i++)
    add(-1);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  assert(current == 0 && peak >= 5);
  printf("changed at %ld\n", atomic_load(&changed));
  return 0;
}
