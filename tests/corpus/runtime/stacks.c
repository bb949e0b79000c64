// Atomics on the stacks of two threads: what the first one leaves is its own, however
// close the other stack lies.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

static _Atomic(atomic_long *) shared;

static void *work(void *argument) {
  atomic_long object = 0;
  atomic_store(&shared, &object);
  while (atomic_load(&object) < 3) sched_yield();
  return argument;
}

static __attribute__((noinline)) void on_stack(int value) {
  atomic_int object = 0;
  atomic_store(&object, value);
  atomic_fetch_add(&object, 1);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  while (!atomic_load(&shared)) sched_yield();
  for (int i = 0; i < 3; i++) {
    on_stack(i);
    atomic_fetch_add(atomic_load(&shared), 1);
  }
  pthread_join(thread, NULL);
  puts("ok");
  return 0;
}
