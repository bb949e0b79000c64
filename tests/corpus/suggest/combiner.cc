// Threads leave their requests for whoever has the lock. Taking it orders nothing: the next
// holder adds to an old total, and may miss that a request was answered. Without that, a
// request that is seen late is only answered later.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

template <int N>
class Combiner {
  struct Slot {
    std::atomic<int> request{0};
    int result = 0;
  };
  Slot slots_[N];
  std::atomic<bool> lock_{false};
  int total_ = 0;

public:
  int add(int me, int amount) {
    Slot &mine = slots_[me];
    mine.request.store(amount, std::memory_order_release);
    for (;;) {
      if (mine.request.load(std::memory_order_acquire) == 0)
        return mine.result;
      if (!lock_.load(std::memory_order_relaxed) &&
          !lock_.exchange(true, std::memory_order_relaxed)) {
        for (auto &slot : slots_) {
          int wanted = slot.request.load(std::memory_order_acquire);
          if (wanted) {
            total_ += wanted;
            slot.result = total_;
            slot.request.store(0, std::memory_order_release);
          }
        }
        lock_.store(false, std::memory_order_release);
      } else {
        std::this_thread::yield();
      }
    }
  }
  int total() const { return total_; }
};

int main() {
  Combiner<3> combiner;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([&, i] {
      int last = 0;
      for (int amount = 1; amount <= 3; amount++) {
        int now = combiner.add(i, amount);
        assert(now > last);
        last = now;
      }
    });
  for (auto &thread : threads)
    thread.join();
  assert(combiner.total() == 18);
}
