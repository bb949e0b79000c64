// Calls every function that the runtime stands in front of to see plain memory.
// Behind each call: what it reads (r) and writes (w), where, from which byte on,
// and how many.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void __explicit_bzero_chk(void *, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
void *__tsan_memcpy(void *, const void *, size_t);
void *__tsan_memmove(void *, const void *, size_t);
void *__tsan_memset(void *, int, size_t);

static char from[64], to[64];
unsigned long mark;
#define MARK(value) __atomic_store_n(&mark, (unsigned long)(value), __ATOMIC_SEQ_CST)
static char early[8];

// Before main, where the runtime may not have started.
__attribute__((constructor)) static void begin(void) { strcpy(early, "early"); }

// And before that, while the loader binds the program's symbols.
static int seven(void) { return 7; }
static void *resolve(void) {
  memset(early, 1, 5);
  memcpy(early + 5, early, 2);
  return early[6] == 1 ? (void *)seven : NULL;
}
int resolved(void) __attribute__((ifunc("resolve")));

static void reset(void) {
  MARK(0);
  for (int i = 0; i < 64; i++) from[i] = to[i] = 0;
  from[0] = 'a', from[1] = 'b', from[2] = 'c', from[4] = 'd', from[5] = 'e', from[6] = 'f';
  to[0] = 'x', to[1] = 'y';
}

#define CALL(what, wanted) \
  (reset(), MARK(__LINE__), assert((long)(what) == (long)(wanted)), MARK(0))

static void bytes(void) {
  CALL(memcpy(to, from, 7), to);                   // r from 0 7, w to 0 7
  CALL(memcpy(to, from, 0), to);                   //
  CALL(memmove(from + 1, from, 5), from + 1);      // r from 0 5, w from 1 5
  CALL(mempcpy(to, from, 7), to + 7);              // r from 0 7, w to 0 7
  CALL((bcopy(from, to, 3), to[2]), 'c');          // r from 0 3, w to 0 3, r to 2 1
  CALL(memccpy(to, from, 'b', 60), to + 2);        // r from 0 2, w to 0 2
  CALL(memccpy(to, from, 'z', 20), NULL);          // r from 0 20, w to 0 20
  CALL(memset(to, 1, 40), to);                     // w to 0 40
  CALL((bzero(to, 9), 0), 0);                      // w to 0 9
  CALL((explicit_bzero(to, 9), 0), 0);             // w to 0 9
  CALL(memcmp(from, to, 16) < 0, 1);               // r from 0 16, r to 0 16
  CALL(bcmp(from, to, 16) != 0, 1);                // r from 0 16, r to 0 16
  CALL(memchr(from, 'c', 60), from + 2);           // r from 0 3
  CALL(memchr(from, 'z', 20), NULL);               // r from 0 20
  CALL(memrchr(from, 'b', 10), from + 1);          // r from 1 9
  CALL(memrchr(from, 'z', 10), NULL);              // r from 0 10
  CALL(rawmemchr(from, 'd'), from + 4);            // r from 0 5
  CALL(memmem(from, 20, from + 4, 2), from + 4);   // r from 0 6, r from 4 2
}

static void checked(void) {
  CALL(__memcpy_chk(to, from, 7, 64), to);         // r from 0 7, w to 0 7
  CALL(__memmove_chk(to, from, 7, 64), to);        // r from 0 7, w to 0 7
  CALL(__mempcpy_chk(to, from, 7, 64), to + 7);    // r from 0 7, w to 0 7
  CALL(__memset_chk(to, 1, 40, 64), to);           // w to 0 40
  CALL((__explicit_bzero_chk(to, 9, 64), 0), 0);   // w to 0 9
  CALL(__strcpy_chk(to, from, 64), to);            // r from 0 4, w to 0 4
  CALL(__stpcpy_chk(to, from, 64), to + 3);        // r from 0 4, w to 0 4
  CALL(__strncpy_chk(to, from, 20, 64), to);       // r from 0 4, w to 0 20
  CALL(__stpncpy_chk(to, from, 20, 64), to + 3);   // r from 0 4, w to 0 20
  CALL(__strcat_chk(to, from, 64), to);            // r to 0 3, r from 0 4, w to 2 4
  CALL(__strncat_chk(to, from, 2, 64), to);        // r to 0 3, r from 0 2, w to 2 3
  CALL(__tsan_memcpy(to, from, 7), to);            // r from 0 7, w to 0 7
  CALL(__tsan_memmove(to, from, 7), to);           // r from 0 7, w to 0 7
  CALL(__tsan_memset(to, 1, 40), to);              // w to 0 40
}

static void text(void) {
  CALL(strlen(from), 3);                           // r from 0 4
  CALL(strnlen(from, 2), 2);                       // r from 0 2
  CALL(strnlen(from, 60), 3);                      // r from 0 4
  CALL(strcpy(to, from), to);                      // r from 0 4, w to 0 4
  CALL(stpcpy(to, from), to + 3);                  // r from 0 4, w to 0 4
  CALL(strncpy(to, from, 20), to);                 // r from 0 4, w to 0 20
  CALL(strncpy(to, from, 2), to);                  // r from 0 2, w to 0 2
  CALL(stpncpy(to, from, 20), to + 3);             // r from 0 4, w to 0 20
  CALL(strcat(to, from), to);                      // r to 0 3, r from 0 4, w to 2 4
  CALL(strncat(to, from, 2), to);                  // r to 0 3, r from 0 2, w to 2 3
  CALL(strncat(to, from, 20), to);                 // r to 0 3, r from 0 4, w to 2 4
  CALL(strcmp(from, to) < 0, 1);                   // r from 0 1, r to 0 1
  CALL(strcmp(from, from), 0);                     // r from 0 4, r from 0 4
  CALL(strncmp(from, from, 2), 0);                 // r from 0 2, r from 0 2
  CALL(strcasecmp(from, from), 0);                 // r from 0 4, r from 0 4
  CALL(strncasecmp(from, from, 2), 0);             // r from 0 2, r from 0 2
  CALL(strchr(from, 'b'), from + 1);               // r from 0 2
  CALL(strchr(from, 'z'), NULL);                   // r from 0 4
  CALL(index(from, 'b'), from + 1);                // r from 0 2
  CALL(strchrnul(from, 'z'), from + 3);            // r from 0 4
  CALL(strrchr(from, 'a'), from);                  // r from 0 4
  CALL(rindex(from, 'a'), from);                   // r from 0 4
  CALL(strstr(from, from + 1), from + 1);          // r from 0 3, r from 1 3
  CALL(strstr(from, to), NULL);                    // r from 0 4, r to 0 3
  CALL(strcasestr(from, from + 1), from + 1);      // r from 0 3, r from 1 3
  CALL(strspn(from, to), 0);                       // r from 0 1, r to 0 3
  CALL(strcspn(from, to), 3);                      // r from 0 4, r to 0 3
  CALL(strpbrk(from, from + 2), from + 2);         // r from 0 3, r from 2 2
  CALL(strdup(from) == NULL, 0);                   // r from 0 4, w new 0 4
  CALL(strndup(from, 2) == NULL, 0);               // r from 0 2, w new 0 3
}

static void *thread(void *argument) {
  bytes();
  checked();
  text();
  return argument;
}

int main(void) {
  MARK(from);
  MARK(to);
  assert(early[4] == 'y' && resolved() == 7);
  thread(NULL);
  pthread_t other;
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  // Over an atomic: what lay there ends.
  static atomic_int object = 7;
  atomic_fetch_add(&object, 1);
  memset((void *)&object, 0, sizeof object);
  assert(atomic_fetch_add(&object, 1) == 0);
  puts("ok");
  return 0;
}
