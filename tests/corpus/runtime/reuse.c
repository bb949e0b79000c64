// The address of an atomic used again: on the heap, on the stack, in
// thread-local storage, by a plain write.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local atomic_int local;
static atomic_int global;

static __attribute__((noinline)) void on_stack(int value) {
  atomic_int object = 0;
  atomic_store(&object, value);
  atomic_fetch_add(&object, 1);
}

static void *in_thread(void *argument) {
  atomic_fetch_add(&local, 1);
  return argument;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    atomic_int *object = malloc(sizeof *object);
    atomic_init(object, 0);
    atomic_fetch_add(object, 1);
    free(object);
  }
  for (int i = 0; i < 3; i++) on_stack(5);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  }
  for (int i = 0; i < 3; i++) {
    atomic_fetch_add(&global, 1);
    *(volatile int *)&global = 0;
  }
  puts("ok");
  return 0;
}
