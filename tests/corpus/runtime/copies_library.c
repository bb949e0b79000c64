// A library that copies: seen if it is instrumented, and only then.
#include <string.h>

void copy(char *to, const char *from, size_t size) {
  memcpy(to, from, size);
  strcpy(to, from);
}
