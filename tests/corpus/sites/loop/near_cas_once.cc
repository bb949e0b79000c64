#include <atomic>
std::atomic<int> x;
bool f() {
  int e = 0;
  if (x.compare_exchange_strong(e, 1)) return true; //~ cas seq_cst/seq_cst
  return false;
}
