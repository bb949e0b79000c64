#include <atomic>
std::atomic<int> l;
int misses;
void f() {
  int e = 0;
  while (!l.compare_exchange_weak(e, 1)) { e = 0; misses++; } //~ cas-weak seq_cst/seq_cst cas-loop
}
