/* In front of every program of this folder. */
#define _GNU_SOURCE
#include <aio.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef BROKEN
#define BROKEN 0
#endif
int data;
/* What a broken program does too late. */
#define LATE if (BROKEN) data = 2;
/* A value that the compiler must keep. */
static volatile int sink;
#define USE(value) (sink = (value))
static inline void both(void *(*first)(void *), void *(*second)(void *)) {
  pthread_t a, b;
  assert(pthread_create(&a, 0, first, 0) == 0);
  assert(pthread_create(&b, 0, second, 0) == 0);
  assert(pthread_join(a, 0) == 0);
  assert(pthread_join(b, 0) == 0);
}
