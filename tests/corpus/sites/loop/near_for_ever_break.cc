#include <atomic>
std::atomic<int> x;
void work();
void f() {
  for (;;) {
    if (x.load() == 1) break; //~ load seq_cst
    work();
  }
}
