// Loads an instrumented library at run time and runs a thread in it.
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

atomic_int host_counter;

int main(int count, char **arguments) {
  assert(count == 2);
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      puts(dlerror());
      return 1;
    }
    int (*run)(atomic_int *) = (int (*)(atomic_int *))dlsym(library, "run");
    assert(run && run(&host_counter) == 10);
    dlclose(library);
  }
  assert(atomic_load(&host_counter) == 40);
  puts("ok");
  return 0;
}
