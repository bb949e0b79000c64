// A thread that main does not wait for.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int done;

static void *work(void *argument) {
  atomic_store(&done, 1);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_detach(thread);
  puts("ok");
  return 0;
}
