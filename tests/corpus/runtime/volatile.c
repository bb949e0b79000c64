// Message passing through volatile variables.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static volatile int flag;
static volatile long data;

static void *reads(void *argument) {
  while (!flag) {}
  assert(data == 42);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, reads, NULL);
  data = 42;
  flag = 1;
  pthread_join(thread, NULL);
  puts("ok");
  return 0;
}
