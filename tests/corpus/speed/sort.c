// Plain code: `sort COUNT` has two threads sort half of the numbers each, then
// merges the halves.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned *numbers, *merged;
static long half;

static void quick(unsigned *from, long count) {
  while (count > 16) {
    unsigned pivot = from[count / 2];
    long low = 0, high = count - 1;
    while (low <= high) {
      while (from[low] < pivot) low++;
      while (from[high] > pivot) high--;
      if (low <= high) {
        unsigned kept = from[low];
        from[low++] = from[high];
        from[high--] = kept;
      }
    }
    if (high + 1 < count - low) {
      quick(from, high + 1);
      from += low;
      count -= low;
    } else {
      quick(from + low, count - low);
      count = high + 1;
    }
  }
  for (long i = 1; i < count; i++) {
    unsigned number = from[i];
    long at = i;
    for (; at > 0 && from[at - 1] > number; at--) from[at] = from[at - 1];
    from[at] = number;
  }
}

static void *work(void *part) {
  quick(numbers + (part ? half : 0), half);
  return NULL;
}

int main(int argc, char **argv) {
  half = (argc > 1 ? atol(argv[1]) : 200000) / 2;
  numbers = malloc(2 * (size_t)half * sizeof *numbers);
  merged = malloc(2 * (size_t)half * sizeof *merged);
  unsigned random = 1;
  for (long i = 0; i < 2 * half; i++) numbers[i] = random = random * 1664525u + 1013904223u;
  pthread_t one, two;
  pthread_create(&one, NULL, work, NULL);
  pthread_create(&two, NULL, work, numbers);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  long left = 0, right = half;
  for (long i = 0; i < 2 * half; i++) {
    int first = right == 2 * half || (left < half && numbers[left] <= numbers[right]);
    merged[i] = numbers[first ? left++ : right++];
  }
  for (long i = 1; i < 2 * half; i++)
    if (merged[i - 1] > merged[i]) return 1;
  puts("sorted");
  return 0;
}
