// Atomics on thousands of pages, and memory given back that holds none: how close
// the two come is up to the system, which places them anew in every run.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGES = 6000 };

static struct {
  atomic_int value;
  char rest[4092];
} pages[PAGES];

int main(void) {
  for (int i = 0; i < PAGES; i++) atomic_fetch_add(&pages[i].value, 1);
  void *near = malloc(16), *mapped = malloc(1 << 20);
  printf("%d\n", near != mapped);
  free(near);
  free(mapped);
  return 0;
}
