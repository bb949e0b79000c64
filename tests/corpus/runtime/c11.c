// Threads, mutexes and conditions as C11 spells them.
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static atomic_int count;
static int plain, initialised, go;

static void initialise(void) { initialised++; }

static int work(void *argument) {
  call_once(&flag, initialise);
  mtx_lock(&mutex);
  while (!go) cnd_wait(&condition, &mutex);
  plain++;
  mtx_unlock(&mutex);
  thrd_yield();
  thrd_sleep(&(struct timespec){.tv_nsec = 1000}, NULL);
  atomic_fetch_add(&count, 1);
  return -(int)(long)argument;
}

int main(void) {
  mtx_init(&mutex, mtx_timed);
  cnd_init(&condition);
  thrd_t threads[3];
  for (long i = 0; i < 3; i++)
    assert(thrd_create(&threads[i], work, (void *)i) == thrd_success);
  mtx_lock(&mutex);
  assert(mtx_trylock(&mutex) == thrd_busy);
  go = 1;
  cnd_broadcast(&condition);
  mtx_unlock(&mutex);
  for (int i = 0; i < 3; i++) {
    int result;
    assert(thrd_join(threads[i], &result) == thrd_success && result == -i);
  }
  assert(count == 3 && plain == 3 && initialised == 1);
  puts("ok");
  return 0;
}
