// Prints random numbers of the system, from every way to ask for them. With an
// argument it does one thing only.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned early;
static atomic_int turns;
static void *volatile nowhere = (void *)8;

__attribute__((constructor)) static void before_main(void) {
  assert(getrandom(&early, sizeof early, 0) == sizeof early);
}

static void print(const char *name, const void *bytes, size_t count) {
  printf("%s", name);
  for (size_t i = 0; i < count; i++) printf(" %02x", ((const unsigned char *)bytes)[i]);
  printf("\n");
}

static void *draw(void *into) {
  atomic_fetch_add(&turns, 1);
  assert(getrandom(into, 8, GRND_NONBLOCK) == 8);
  atomic_fetch_add(&turns, 1);
  return into;
}

static void every_way(void) {
  unsigned char b[64];
  print("constructor", &early, sizeof early);
  print("AT_RANDOM", (const void *)getauxval(AT_RANDOM), 16);
  assert(getrandom(b, 11, 0) == 11);
  print("getrandom", b, 11);
  assert(getentropy(b, 16) == 0);
  print("getentropy", b, 16);
  assert(syscall(SYS_getrandom, b, 8, 0) == 8);
  print("syscall", b, 8);
  const char *devices[] = {"/dev/urandom", "/dev/random"};
  for (int i = 0; i < 2; i++) {
    int file = open(devices[i], O_RDONLY);
    assert(file >= 0);
    assert(read(file, b, 9) == 9);
    print(devices[i], b, 9);
    struct iovec parts[] = {{b, 3}, {b + 3, 0}, {b + 8, 6}};
    memset(b, 0, sizeof b);
    assert(readv(file, parts, 3) == 9);
    assert(b[3] == 0 && b[7] == 0 && b[14] == 0);
    print("readv", b, 14);
    assert(syscall(SYS_read, file, b, 8) == 8);
    print("read by syscall", b, 8);
    close(file);
    FILE *stream = fopen(devices[i], "rb");
    assert(stream && fread(b, 1, 12, stream) == 12);
    print("fread", b, 12);
    int byte = fgetc(stream);
    assert(byte >= 0);
    print("fgetc", &byte, 1);
    assert(read(fileno(stream), b, 8) == 8);
    print("read of a stream's file", b, 8);
    int number = fileno(stream);
    assert(fclose(stream) == 0);
    assert(fcntl(number, F_GETFD) == -1 && errno == EBADF);
    stream = fdopen(open(devices[i], O_RDONLY), "r");
    assert(stream && setvbuf(stream, NULL, _IONBF, 0) == 0 && fread(b, 1, 8, stream) == 8);
    print("fdopen", b, 8);
    fclose(stream);
  }
#ifdef ARC4RANDOM
  unsigned number = arc4random();
  print("arc4random", &number, 4);
  arc4random_buf(b, 13);
  print("arc4random_buf", b, 13);
  number = arc4random_uniform(1000000);
  assert(number < 1000000 && arc4random_uniform(1) == 0 && arc4random_uniform(0) == 0);
  print("arc4random_uniform", &number, 4);
#endif
  pthread_t threads[3];
  unsigned char drawn[3][8];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, draw, drawn[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < 3; i++) print("thread", drawn[i], 8);
}

// Two children and what the parent draws meanwhile: all of them different.
static void forks(void) {
  fflush(stdout);
  for (int i = 0; i < 2; i++) {
    unsigned char b[8];
    if (fork() == 0) {
      assert(getrandom(b, 8, 0) == 8);
      print("child", b, 8);
      fflush(stdout);
      _exit(0);
    }
    wait(0);
  }
  unsigned char b[8];
  assert(getrandom(b, 8, 0) == 8);
  print("parent", b, 8);
}

// What fails goes on to fail, and what is short is short.
static void errors(void) {
  unsigned char b[300];
  memset(b, 0x5a, sizeof b);
  errno = 0;
  assert(getrandom(b, 8, 0x8000) == -1 && errno == EINVAL);
  errno = 0;
  assert(syscall(SYS_getrandom, b, 8, 0x8000) == -1 && errno == EINVAL);
  errno = 0;
  assert(getrandom(nowhere, 8, 0) == -1 && errno == EFAULT);
  errno = 0;
  assert(getentropy(b, 257) == -1 && errno == EIO);
  int file = open("/dev/urandom", O_RDONLY);
  errno = 0;
  assert(read(file, nowhere, 8) == -1 && errno == EFAULT);
  assert(read(file, b, 0) == 0);
  close(file);
  errno = 0;
  assert(read(file, b, 8) == -1 && errno == EBADF);
  errno = 0;
  assert(fopen("/dev/urandom/none", "r") == NULL && errno == ENOTDIR);
  for (unsigned i = 0; i < sizeof b; i++) assert(b[i] == 0x5a);
  assert(getrandom(b + 1, 3, 0) == 3);
  assert(b[0] == 0x5a && b[4] == 0x5a);
  print("ok", b, 0);
}

// Files that are not random.
static void ordinary(const char *path) {
  unsigned char b[16];
  FILE *stream = fopen(path, "w+");
  assert(stream && fputs("plain text", stream) >= 0);
  rewind(stream);
  assert(fread(b, 1, 16, stream) == 10 && memcmp(b, "plain text", 10) == 0);
  fclose(stream);
  int file = open(path, O_RDONLY);
  assert(read(file, b, 16) == 10 && memcmp(b, "plain text", 10) == 0);
  close(file);
  file = open("/dev/zero", O_RDONLY);
  assert(read(file, b, 16) == 16);
  for (int i = 0; i < 16; i++) assert(b[i] == 0);
  close(file);
  int ends[2];
  assert(pipe(ends) == 0 && write(ends[1], "piped", 5) == 5);
  assert(read(ends[0], b, 16) == 5 && memcmp(b, "piped", 5) == 0);
  print("ok", b, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "errors") == 0) errors();
  else if (argc > 1 && strcmp(argv[1], "forks") == 0) forks();
  else if (argc > 1) ordinary(argv[1]);
  else every_way();
  return 0;
}
