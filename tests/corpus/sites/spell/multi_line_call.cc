#include <atomic>
std::atomic<int> x;
bool f(int e) {
  return x.compare_exchange_strong( //~ cas acq_rel/acquire literal order=std::memory_order_acq_rel
      e,  // what we saw
      e + 1, /* what we want */
      std::memory_order_acq_rel,
      std::memory_order_acquire);
}
