#include <atomic>
std::atomic<int> x;
bool f() {
  for (int i = 0; i < 100 && x.load() == 0; i++) {} //~ load seq_cst
  return x.load() != 0; //~ load seq_cst
}
