// Two threads that wait for each other until a second and a half have passed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int flags[2];
static struct timespec begin;

static long passed(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
}

static void *work(void *argument) {
  long me = (long)argument;
  while (!atomic_load(&flags[1 - me]) && passed() < 1500) {}
  return NULL;
}

int main(void) {
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
