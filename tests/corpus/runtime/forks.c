// Forks while threads run; the child uses threads of its own. Then a child that
// becomes another program, and one whose program does not exist.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int x, stop;

static void *work(void *argument) {
  for (int i = 0; i < 10; i++) atomic_fetch_add(&x, 1);
  return argument;
}

static void *background(void *argument) {
  while (!atomic_load(&stop)) atomic_fetch_add_explicit(&x, 0, memory_order_relaxed);
  return argument;
}

static void two_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static int status_of(pid_t child) {
  int status;
  assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(int count, char **arguments) {
  (void)count;
  pthread_t other;
  pthread_create(&other, NULL, background, NULL);
  pid_t child = fork();
  if (child == 0) {
    atomic_store(&x, 0);
    two_threads();
    exit(atomic_load(&x));
  }
  assert(status_of(child) == 20);

  child = vfork();
  if (child == 0) {
    execlp("true", "true", (char *)NULL);
    _exit(1);
  }
  assert(status_of(child) == 0);

  child = fork();
  if (child == 0) {
    char *none[] = {"none", NULL};
    assert(execv("/nonexistent/program", none) == -1);
    _exit(9);
  }
  assert(status_of(child) == 9);
  atomic_store(&stop, 1);
  pthread_join(other, NULL);

  // Shared memory: the child writes, the parent spins.
  atomic_int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  child = fork();
  if (child == 0) {
    atomic_store(shared, 1);
    _exit(0);
  }
  while (!atomic_load(shared)) {}
  assert(status_of(child) == 0);
  fflush(NULL);
  char *next[] = {arguments[0], "again", NULL};
  if (count == 1) execv(arguments[0], next);
  puts("ok");
  return 0;
}
