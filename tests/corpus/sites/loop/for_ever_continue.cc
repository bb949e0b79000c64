#include <atomic>
std::atomic<int> x;
void f() {
  while (true) {
    if (x.load() != 3) continue; //~ load seq_cst spin(==3)
    break;
  }
}
