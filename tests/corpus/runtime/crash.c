// Ends in the way its argument says, while another thread is in the middle of
// something.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int x, stop;

static void *other(void *argument) {
  while (!atomic_load(&stop)) atomic_fetch_add(&x, 1);
  return argument;
}

static void *ends(void *argument) {
  const char *how = argument;
  atomic_store(&x, 7);
  if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(4);
  if (!strcmp(how, "quick")) quick_exit(5);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "terminate")) kill(getpid(), SIGTERM);
  if (!strcmp(how, "fpe")) raise(SIGFPE);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t first, second;
  pthread_create(&first, NULL, other, NULL);
  pthread_create(&second, NULL, ends, count > 1 ? arguments[1] : "");
  pthread_join(second, NULL);
  atomic_store(&stop, 1);
  pthread_join(first, NULL);
  return 0;
}
