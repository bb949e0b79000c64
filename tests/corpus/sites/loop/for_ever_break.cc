#include <atomic>
std::atomic<int> x;
void f() {
  for (;;) {
    if (x.load() == 1) break; //~ load seq_cst spin(==1)
  }
}
