// Every lock and waiting call of POSIX threads, with its results.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
// Each lock guards a count of its own: two locks do not exclude each other.
static int by_mutex, by_spin, by_rwlock, initialised, serial, turns;
static atomic_int late;

static struct timespec in(long milliseconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += milliseconds * 1000000;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static void initialise(void) {
  pthread_mutex_lock(&mutex);
  initialised++;
  pthread_mutex_unlock(&mutex);
}

static void *work(void *argument) {
  long me = (long)argument;
  pthread_once(&once, initialise);
  assert(initialised == 1);
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&mutex);
    by_mutex++;
    pthread_mutex_unlock(&mutex);
    pthread_spin_lock(&spin);
    by_spin++;
    pthread_spin_unlock(&spin);
    pthread_rwlock_wrlock(&rwlock);
    by_rwlock++;
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_rdlock(&rwlock);
    (void)by_rwlock;
    pthread_rwlock_unlock(&rwlock);
    while (pthread_mutex_trylock(&mutex) == EBUSY) {}
    pthread_mutex_unlock(&mutex);
  }
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
  if (me == 0) {
    sem_wait(&semaphore);
    struct timespec time = in(20);
    assert(sem_timedwait(&semaphore, &time) == -1 && errno == ETIMEDOUT);
    assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  } else if (me == 1) {
    sem_post(&semaphore);
  }
  // Three threads take turns.
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 3; i++) {
    while (turns % 3 != me) pthread_cond_wait(&condition, &mutex);
    turns++;
    pthread_cond_broadcast(&condition);
  }
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void *hold(void *argument) {
  pthread_mutex_lock(&mutex);
  sem_post(&semaphore);
  while (!atomic_load(&late)) usleep(1000);
  pthread_mutex_unlock(&mutex);
  return argument;
}

int main(void) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, NULL, 3);
  sem_init(&semaphore, 0, 0);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (long i = 0; i < 3; i++) {
    void *result;
    assert(pthread_join(threads[i], &result) == 0 && result == (void *)i);
  }
  assert(by_mutex == 15 && by_spin == 15 && by_rwlock == 15);
  assert(serial == 1 && turns == 9);

  // Recursive and error-checking mutexes.
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &attributes);
  assert(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
  assert(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checking;
  pthread_mutex_init(&checking, &attributes);
  assert(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
  assert(pthread_mutex_unlock(&checking) == 0 && pthread_mutex_unlock(&checking) == EPERM);

  // Waiting for what does not come.
  pthread_t holder;
  pthread_create(&holder, NULL, hold, NULL);
  sem_wait(&semaphore);
  struct timespec time = in(20);
  assert(pthread_mutex_timedlock(&mutex, &time) == ETIMEDOUT);
  atomic_store(&late, 1);
  pthread_join(holder, NULL);
  pthread_mutex_lock(&mutex);
  time = in(20);
  assert(pthread_cond_timedwait(&condition, &mutex, &time) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  puts("ok");
  return 0;
}
