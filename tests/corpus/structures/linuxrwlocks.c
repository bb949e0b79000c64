// A reader-writer lock with a bias, after Linux. The writer's unlock is relaxed.
// expect: race shared
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { BIAS = 0x100000 };

static atomic_int lock = BIAS;
static int shared;

static void read_lock(void) {
  while (atomic_fetch_sub_explicit(&lock, 1, memory_order_acquire) <= 0) {
    atomic_fetch_add_explicit(&lock, 1, memory_order_relaxed);
    while (atomic_load_explicit(&lock, memory_order_relaxed) <= 0)
      sched_yield();
  }
}

static void read_unlock(void) { atomic_fetch_add_explicit(&lock, 1, memory_order_release); }

static void write_lock(void) {
  while (atomic_fetch_sub_explicit(&lock, BIAS, memory_order_acquire) != BIAS) {
    atomic_fetch_add_explicit(&lock, BIAS, memory_order_relaxed);
    while (atomic_load_explicit(&lock, memory_order_relaxed) != BIAS)
      sched_yield();
  }
}

static void write_unlock(void) {
  atomic_fetch_add_explicit(&lock, BIAS, memory_order_relaxed); // should release
}

static void *run(void *unused) {
  (void)unused;
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    read_lock();
    sum += shared;
    read_unlock();
    write_lock();
    shared++;
    write_unlock();
  }
  return sum ? &shared : 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
