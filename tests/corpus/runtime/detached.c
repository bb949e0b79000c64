// A detached thread that still runs when the process ends.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int started;

static void *forever(void *argument) {
  for (;;) atomic_fetch_add(&started, 1);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, forever, NULL);
  pthread_detach(thread);
  while (atomic_load(&started) < 5) {}
  puts("ok");
  return 0;
}
