// An importer counts its records under a lock, but notes the last one outside of
// it. Whoever looks after the import is done finds everything in order; whoever
// looks a moment too early reads the note while it is written.
#include <pthread.h>
#include <stdio.h>

enum { RECORDS = 40, ROUNDS = 200 };

static pthread_mutex_t import_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int records; // import_lock
static long bytes;  // import_lock
static int cached;  // cache_lock
static int last;    // no lock: the bug

static void *import(void *unused) {
  (void)unused;
  for (int record = 1; record <= RECORDS; record++) {
    pthread_mutex_lock(&import_lock);
    records = record;
    pthread_mutex_unlock(&import_lock);
    if (record == RECORDS)
      last = record;
    pthread_mutex_lock(&import_lock);
    bytes += 100;
    pthread_mutex_unlock(&import_lock);
  }
  return 0;
}

static void *tidy(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&cache_lock);
    cached++;
    pthread_mutex_unlock(&cache_lock);
  }
  return 0;
}

int main(void) {
  pthread_t importer, tidier;
  pthread_create(&importer, 0, import, 0);
  pthread_create(&tidier, 0, tidy, 0);
  pthread_join(tidier, 0);
  pthread_mutex_lock(&import_lock);
  int done = records == RECORDS;
  pthread_mutex_unlock(&import_lock);
  int complete = !done || last == RECORDS;
  pthread_join(importer, 0);
  printf("%d records, %ld bytes\n", records, bytes);
  return complete ? 0 : 1;
}
