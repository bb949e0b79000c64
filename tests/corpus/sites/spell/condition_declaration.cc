#include <atomic>
std::atomic<int*> p;
int f() {
  if (int* q = p.load(std::memory_order_acquire)) return *q; //~ load acquire on=p
  if (auto q = p.load(); q) return 1; //~ load seq_cst on=p
  return 0;
}
