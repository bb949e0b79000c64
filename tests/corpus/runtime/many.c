// Two hundred threads at once, each with thread-local data that has a
// destructor; then two thousand one after the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 200

static pthread_key_t key;
static atomic_int destroyed, arrived;

static void destroy(void *value) {
  // Once more in the next round, as libraries do.
  if (value == (void *)1) pthread_setspecific(key, (void *)2);
  else atomic_fetch_add(&destroyed, 1);
}

static void *work(void *argument) {
  pthread_setspecific(key, (void *)1);
  atomic_fetch_add(&arrived, 1);
  if ((long)argument % 2) pthread_exit(argument);
  return argument;
}

int main(void) {
  pthread_key_create(&key, destroy);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) assert(!pthread_create(&threads[i], NULL, work, (void *)i));
  for (long i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    assert(result == (void *)i);
  }
  assert(arrived == THREADS && destroyed == THREADS);
  for (int i = 0; i < 2000; i++) {
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_join(threads[0], NULL);
  }
  assert(destroyed == THREADS + 2000);
  puts("ok");
  return 0;
}
