#include <atomic>
std::atomic<int> x;
int f() {
  for (;;) {
    int old = x.load(); //~ load seq_cst
    if (old == 0) return 0;
    if (x.compare_exchange_strong(old, old - 1)) return old; //~ cas seq_cst/seq_cst cas-loop
  }
}
