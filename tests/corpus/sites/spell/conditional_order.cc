#include <atomic>
std::atomic<int> x;
int f(bool strong) {
  return x.load(strong ? std::memory_order_acquire : std::memory_order_relaxed); //~ load ? not-literal
}
