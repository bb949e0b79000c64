// Loops that wait for other threads in many ways: no schedule may hang.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int baton, ticket, serving, tas, a, b;
static atomic_flag flag = ATOMIC_FLAG_INIT;
// One for each of the locks.
static int under_tas, under_flag, under_ticket;

static void *work(void *argument) {
  int me = (int)(long)argument;
  // A chain of hand-overs.
  while (atomic_load_explicit(&baton, memory_order_acquire) != me) {}
  atomic_store_explicit(&baton, me + 1, memory_order_release);
  // Test and set, with and without a test before it.
  for (int i = 0; i < 10; i++) {
    while (atomic_exchange(&tas, 1)) {}
    under_tas++;
    atomic_store(&tas, 0);
    while (atomic_flag_test_and_set(&flag)) sched_yield();
    under_flag++;
    atomic_flag_clear(&flag);
  }
  // A ticket lock.
  int mine = atomic_fetch_add(&ticket, 1);
  while (atomic_load(&serving) != mine) usleep(10);
  under_ticket++;
  atomic_fetch_add(&serving, 1);
  // A condition of two parts.
  atomic_fetch_add(me % 2 ? &a : &b, 1);
  while (atomic_load(&a) < 2 || atomic_load(&b) < 2) {}
  // A compare-exchange loop.
  int expected;
  do {
    expected = atomic_load(&baton);
  } while (!atomic_compare_exchange_weak(&baton, &expected, expected + 1));
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  assert(under_tas == 40 && under_flag == 40 && under_ticket == 4 && baton == 8);
  puts("ok");
  return 0;
}
