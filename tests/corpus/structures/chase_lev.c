// A work-stealing deque whose owner publishes its work with a relaxed store.
// expect: race payload
#include <pthread.h>
#include <stdatomic.h>

enum { CAPACITY = 8, TASKS = 4 };

static atomic_long top, bottom;
static atomic_int tasks[CAPACITY];
static int payload[TASKS];

static void push(int task) {
  long b = atomic_load_explicit(&bottom, memory_order_relaxed);
  atomic_store_explicit(&tasks[b % CAPACITY], task, memory_order_relaxed);
  atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); // should release
}

static int take(void) {
  long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
  atomic_store_explicit(&bottom, b, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  long t = atomic_load_explicit(&top, memory_order_relaxed);
  int task = -1;
  if (t <= b) {
    task = atomic_load_explicit(&tasks[b % CAPACITY], memory_order_relaxed);
    if (t == b) {
      if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                   memory_order_relaxed))
        task = -1;
      atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
  } else {
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
  }
  return task;
}

static int steal(void) {
  long t = atomic_load_explicit(&top, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  long b = atomic_load_explicit(&bottom, memory_order_acquire);
  if (t >= b)
    return -1;
  int task = atomic_load_explicit(&tasks[t % CAPACITY], memory_order_relaxed);
  if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                               memory_order_relaxed))
    return -1;
  return task;
}

static void *thief(void *unused) {
  (void)unused;
  int sum = 0;
  for (int i = 0; i < TASKS; i++) {
    int task = steal();
    if (task >= 0)
      sum += payload[task];
  }
  return sum ? payload : 0;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, thief, 0);
  for (int i = 0; i < TASKS; i++) {
    payload[i] = i + 1;
    push(i);
  }
  for (int i = 0; i < 2; i++)
    take();
  pthread_join(other, 0);
  return 0;
}
