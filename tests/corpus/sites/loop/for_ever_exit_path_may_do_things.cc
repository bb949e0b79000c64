#include <atomic>
std::atomic<int> x;
int total;
void f() {
  for (;;) {
    int v = x.load(); //~ load seq_cst spin(>2)
    if (v > 2) { total += v; return; }
  }
}
