#include <atomic>
std::atomic<int> x;
int f() {
  int sum = 0, v;
  while ((v = x.load()) != 0) sum += v; //~ load seq_cst
  return sum;
}
