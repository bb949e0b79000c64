#include <atomic>
struct Cell {
  std::atomic<int> v;
  int load(std::memory_order order) { return v.load(order); } //~ load ? not-literal order=order on=v in=load
  void store(int n, std::memory_order o = std::memory_order_seq_cst) { v.store(n, o); } //~ store ? not-literal order=o
};
