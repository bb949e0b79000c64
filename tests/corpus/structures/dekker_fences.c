// Dekker's algorithm with fences, of which the second thread's is too weak at its
// exit: what it wrote is not handed over.
// expect: race shared
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int shared;

static void enter(int me) {
  int other = 1 - me;
  atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&wants[other], memory_order_relaxed)) {
    if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
      atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
      while (atomic_load_explicit(&turn, memory_order_relaxed) != me)
        sched_yield();
      atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
      atomic_thread_fence(memory_order_seq_cst);
    } else {
      sched_yield();
    }
  }
  atomic_thread_fence(memory_order_acquire);
}

static void leave(int me) {
  if (me == 0) // both should
    atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
  atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
}

static void *run(void *argument) {
  int me = argument != 0;
  enter(me);
  shared++;
  leave(me);
  return 0;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, run, 0);
  pthread_create(&threads[1], 0, run, &shared);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
