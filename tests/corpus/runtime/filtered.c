// Plain accesses that add nothing to a trace, and next to them some that do:
// repeated before and after an operation, racing and ordered by a lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int data, other, shared;
static int table[64];
static atomic_int flag, before;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused) {
  for (int i = 0; i < 64; i++) table[i] = i;
  data = 1;
  data = 2;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  data = 3;
  other++;
  pthread_mutex_lock(&lock);
  shared++;
  shared++;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *reader(void *unused) {
  int sum = 0;
  if (atomic_load_explicit(&flag, memory_order_relaxed)) {
    sum += data;
    sum += data;
    for (int i = 0; i < 64; i++) sum += table[i];
  }
  sum += other;
  other = sum;
  sum += atomic_load_explicit(&before, memory_order_relaxed);
  atomic_store_explicit(&before, sum, memory_order_relaxed);
  pthread_mutex_lock(&lock);
  shared++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  // With one thread, only the last of these counts.
  for (int i = 0; i < 1000; i++) atomic_fetch_add(&before, 1);
  for (int round = 0; round < 2; round++) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 64; i++) table[i] += data;
  }
  printf("%d\n", shared);
  return 0;
}
