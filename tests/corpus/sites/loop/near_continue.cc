#include <atomic>
std::atomic<int> x;
void work();
void f() {
  while (true) {
    if (x.load() != 3) continue; //~ load seq_cst
    work();
  }
}
