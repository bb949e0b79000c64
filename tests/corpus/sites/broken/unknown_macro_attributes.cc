#include <atomic>
class EXPORT_API Thing FINAL_CLASS {
  GUARDED_BY(mu) std::atomic<int> n;
  ALWAYS_INLINE int get() const NOEXCEPT { return n.load(std::memory_order_acquire); } //~ load acquire
};
