// Threads that block in calls which nobody controls: one reads what another
// writes only after it was let run; one computes for long without a word.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int forth[2], back[2];
static atomic_int count;
static volatile long work;

static void *echo(void *argument) {
  char byte;
  for (int i = 0; i < 5; i++) {
    assert(read(forth[0], &byte, 1) == 1);
    atomic_fetch_add(&count, 1);
    assert(write(back[1], &byte, 1) == 1);
  }
  return argument;
}

static void *compute(void *argument) {
  for (long i = 0; i < 20000000; i++) work += i;
  atomic_fetch_add(&count, 1);
  return argument;
}

int main(void) {
  assert(!pipe(forth) && !pipe(back));
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, echo, NULL);
  pthread_create(&threads[1], NULL, compute, NULL);
  char byte = 'x';
  for (int i = 0; i < 5; i++) {
    assert(write(forth[1], &byte, 1) == 1);
    atomic_fetch_add(&count, 1);
    assert(read(back[0], &byte, 1) == 1);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(count == 11);
  puts("ok");
  return 0;
}
