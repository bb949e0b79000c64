#include <atomic>
struct Box {
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr std::memory_order acq = std::memory_order_acquire;
  std::atomic<int> x{0};
  int get() const { return x.load(acq); } //~ load acquire literal order=acq in=get on=x
  void set(int v) { x.store(v, relaxed); } //~ store relaxed literal order=relaxed
};
