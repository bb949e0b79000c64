#include <atomic>
std::atomic<int> x[4];
int f() {
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += x[i].load(); //~ load seq_cst looped
  return sum;
}
