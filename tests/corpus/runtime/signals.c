// Signal handlers that use atomics and post a semaphore, sent to threads that
// run, that wait, and to oneself; a timer that never stops.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int seen, ticks, stop;
static sem_t semaphore;

static void handle(int number) {
  (void)number;
  atomic_fetch_add(&seen, 1);
  sem_post(&semaphore);
}

static void tick(int number) {
  (void)number;
  atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed);
}

static void *waits(void *argument) {
  for (int i = 0; i < 3; i++) sem_wait(&semaphore);
  return argument;
}

static void *runs(void *argument) {
  while (!atomic_load(&stop)) {}
  return argument;
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGALRM, tick);
  struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, NULL);
  pthread_t waiter, runner;
  pthread_create(&waiter, NULL, waits, NULL);
  pthread_create(&runner, NULL, runs, NULL);
  pthread_kill(waiter, SIGUSR1);
  pthread_kill(runner, SIGUSR1);
  raise(SIGUSR1);
  pthread_join(waiter, NULL);
  atomic_store(&stop, 1);
  pthread_join(runner, NULL);
  assert(seen == 3);
  puts("ok");
  return 0;
}
