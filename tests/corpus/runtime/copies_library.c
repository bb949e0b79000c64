// A library that copies: seen whether it is instrumented or not.
#include <string.h>

void copy(char *to, const char *from, size_t size) {
  memcpy(to, from, size);
  strcpy(to, from);
}
