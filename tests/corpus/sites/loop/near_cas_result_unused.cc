#include <atomic>
std::atomic<int> x;
void f(int n) {
  for (int i = 0; i < n; i++) {
    int e = 0;
    x.compare_exchange_strong(e, 1); //~ cas seq_cst/seq_cst looped
  }
}
