#include <atomic>
std::atomic<int> l;
void f() {
  int e = 0, d = 1;
  while (!l.compare_exchange_weak(e, d)) { e = 0; d = d + 1; } //~ cas-weak seq_cst/seq_cst cas-loop
}
