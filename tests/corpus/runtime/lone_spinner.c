// Waits for a value that nobody is left to write.
#include <stdatomic.h>

static atomic_int flag;

int main(void) {
  while (!atomic_load_explicit(&flag, memory_order_acquire)) {
  }
  return 0;
}
