// Plain code: `matrix SIZE` multiplies two square matrices, each of two threads
// half of the rows.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static double *left, *right, *product;
static long size;

static void *work(void *part) {
  long from = part ? size / 2 : 0, to = part ? size : size / 2;
  for (long row = from; row < to; row++)
    for (long column = 0; column < size; column++) {
      double sum = 0;
      for (long i = 0; i < size; i++) sum += left[row * size + i] * right[i * size + column];
      product[row * size + column] = sum;
    }
  return NULL;
}

int main(int argc, char **argv) {
  size = argc > 1 ? atol(argv[1]) : 128;
  size_t bytes = (size_t)(size * size) * sizeof(double);
  left = malloc(bytes);
  right = malloc(bytes);
  product = malloc(bytes);
  for (long i = 0; i < size * size; i++) {
    left[i] = (double)(i % 7);
    right[i] = (double)(i % 5);
  }
  pthread_t one, two;
  pthread_create(&one, NULL, work, NULL);
  pthread_create(&two, NULL, work, left);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  printf("%.0f\n", product[size * size - 1]);
  return 0;
}
