#include <atomic>
std::atomic<int> l;
void lock() {
  int e;
  do { e = 0; } while (l.load() != 0 || !l.compare_exchange_strong(e, 1)); //~ load seq_cst spin(==0,all); cas seq_cst/seq_cst blocking(==0,all)
}
