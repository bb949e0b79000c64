#include <atomic>
template <std::memory_order Order>
int get(std::atomic<int>& x) {
  return x.load(Order); //~ load ? not-literal order=Order on=x in=get
}
