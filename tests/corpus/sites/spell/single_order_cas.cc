#include <atomic>
std::atomic<int> x;
void f(int e) {
  x.compare_exchange_strong(e, 1, std::memory_order_acq_rel); //~ cas acq_rel/acquire
  x.compare_exchange_weak(e, 1, std::memory_order_release); //~ cas-weak release/relaxed
  x.compare_exchange_weak(e, 1, std::memory_order_relaxed); //~ cas-weak relaxed/relaxed
}
