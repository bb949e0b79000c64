#include <atomic>
std::atomic<int> l;
void f() {
  int e = 0;
  while (!l.compare_exchange_weak(e, 1)) {} //~ cas-weak seq_cst/seq_cst cas-loop
}
