// Has a library copy for it.
#include <assert.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

static char from[64] = "the eagle", to[64];
static atomic_int done;

int main(int count, char **arguments) {
  assert(count == 2);
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  void (*copy)(char *, const char *, size_t) =
      (void (*)(char *, const char *, size_t))dlsym(library, "copy");
  copy(to, from, 61);
  atomic_store(&done, 1);
  puts(to);
  return 0;
}
