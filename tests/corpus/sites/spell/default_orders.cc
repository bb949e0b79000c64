#include <atomic>
std::atomic<int> x;
void f() {
  x.load(); //~ load seq_cst implied all=x.load()
  x.store(1); //~ store seq_cst implied
  x.exchange(2); //~ rmw seq_cst implied
  x.fetch_add(1); //~ rmw seq_cst implied
  int e = 0;
  x.compare_exchange_strong(e, 1); //~ cas seq_cst/seq_cst implied
}
