#include <atomic>
std::atomic<int> x;
void f(int e) {
  std::atomic_store(&x, 1); //~ store seq_cst implied by=std on=x
  std::atomic_load_explicit(&x, std::memory_order_acquire); //~ load acquire by=std
  std::atomic_compare_exchange_weak(&x, &e, 2); //~ cas-weak seq_cst/seq_cst
  std::atomic_thread_fence(std::memory_order_release); //~ fence release by=std
  std::atomic_signal_fence(std::memory_order_acq_rel); //~ signal-fence acq_rel
}
