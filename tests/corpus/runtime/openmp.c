// Teams of OpenMP threads, whose library is not instrumented: what they do is
// ordered by the team's beginning and end, its barriers and critical sections.
#include <assert.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int counter, after;
static int plain;

int main(void) {
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3)
    {
      atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
#pragma omp critical
      plain++;
#pragma omp barrier
      if (atomic_load_explicit(&counter, memory_order_relaxed) >= 3 * (round + 1))
        atomic_fetch_add_explicit(&after, 1, memory_order_relaxed);
    }
  }
  assert(atomic_load_explicit(&counter, memory_order_relaxed) == 9);
  assert(atomic_load_explicit(&after, memory_order_relaxed) == 9 && plain == 9);
  puts("ok");
  return 0;
}
