#include <atomic>
int plain;
void f() {
  std::atomic_ref<int> r(plain);
  r.fetch_add(1); //~ rmw seq_cst on=r
  r.store(2, std::memory_order_relaxed); //~ store relaxed
  std::atomic_ref<int>(plain).store(3); //~ store seq_cst on=std::atomic_ref<int>(plain)
  std::atomic_ref{plain}.load(); //~ load seq_cst
}
