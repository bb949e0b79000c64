// What C++ programs use: std::thread, atomic wait and notify, local statics,
// call_once (also one that throws), condition variables with a time, shared
// mutexes, futures, thread-local objects with destructors.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> phase{0}, alive{0}, destroyed{0};
static std::mutex mutex;
static std::condition_variable condition;
static std::shared_mutex shared;
static std::once_flag once, throwing;
static int plain, attempts;

struct Slow {
  int value;
  Slow() : value(42) {
    for (int i = 0; i < 10; i++) alive.fetch_add(1, std::memory_order_relaxed);
  }
};

static int local() {
  static Slow slow;
  return slow.value;
}

struct Local {
  ~Local() { destroyed.fetch_add(1); }
};
static thread_local Local object;

static void work(int me) {
  (void)&object;
  phase.wait(0);
  assert(local() == 42);
  std::call_once(once, [] { plain++; });
  try {
    std::call_once(throwing, [] {
      if (++attempts < 3) throw std::runtime_error("again");
    });
  } catch (const std::runtime_error &) {
  }
  {
    std::shared_lock<std::shared_mutex> lock(shared);
    assert(plain >= 1);
  }
  std::unique_lock<std::shared_mutex> lock(shared);
  plain += me;
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; i++) threads.emplace_back(work, i);
  phase.store(1);
  phase.notify_all();
  for (auto &thread : threads) thread.join();
  assert(plain == 11 && alive == 10 && attempts == 3 && destroyed == 4);
  auto future = std::async(std::launch::async, [] { return local(); });
  assert(future.get() == 42);
  std::unique_lock<std::mutex> lock(mutex);
  using namespace std::chrono_literals;
  assert(condition.wait_for(lock, 5ms) == std::cv_status::timeout);
  std::this_thread::sleep_for(1ms);
  std::puts("ok");
}
