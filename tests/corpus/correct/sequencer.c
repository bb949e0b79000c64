// A ring whose slots everybody gets: one thread fills them, two read each of them, and the
// writer remembers how far the slower reader has come.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define SLOTS 4
#define READERS 2
#define EVENTS 10

struct sequence {
  _Atomic int64_t value;
  char pad[56];
};

static struct sequence published, finished[READERS];
static int64_t slots[SLOTS][2];
static int64_t next = -1, limit = -1;

static int64_t get(struct sequence *sequence) {
  return atomic_load_explicit(&sequence->value, memory_order_acquire);
}

static void set(struct sequence *sequence, int64_t value) {
  atomic_store_explicit(&sequence->value, value, memory_order_release);
}

static void publish(int64_t value) {
  next++;
  while (next - SLOTS > limit) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < READERS; i++) {
      int64_t at = get(&finished[i]);
      if (at < least)
        least = at;
    }
    limit = least;
    if (next - SLOTS > limit)
      sched_yield();
  }
  slots[next % SLOTS][0] = value;
  slots[next % SLOTS][1] = value * value;
  set(&published, next);
}

static void *reader(void *own) {
  int64_t at = 0;
  while (at < EVENTS) {
    int64_t available = get(&published);
    if (available < at) {
      sched_yield();
      continue;
    }
    for (; at <= available; at++)
      assert(slots[at % SLOTS][0] == at && slots[at % SLOTS][1] == at * at);
    set(own, available);
  }
  return 0;
}

int main(void) {
  pthread_t threads[READERS];
  atomic_init(&published.value, -1);
  for (int i = 0; i < READERS; i++)
    atomic_init(&finished[i].value, -1);
  for (int i = 0; i < READERS; i++)
    pthread_create(&threads[i], 0, reader, &finished[i]);
  for (int64_t i = 0; i < EVENTS; i++)
    publish(i);
  for (int i = 0; i < READERS; i++)
    pthread_join(threads[i], 0);
  return 0;
}
