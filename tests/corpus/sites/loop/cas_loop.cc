#include <atomic>
std::atomic<int> x;
void twice() {
  int old = x.load(); //~ load seq_cst
  while (!x.compare_exchange_weak(old, old * 2)) {} //~ cas-weak seq_cst/seq_cst cas-loop
}
