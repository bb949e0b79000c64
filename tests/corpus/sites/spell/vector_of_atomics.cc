#include <atomic>
#include <vector>
std::vector<std::atomic<int>> counts(4);
void f(int i) {
  counts[i]++; //~ rmw seq_cst on=counts[i]
  counts[i].fetch_add(1, std::memory_order_relaxed); //~ rmw relaxed on=counts[i]
  counts.clear();
}
