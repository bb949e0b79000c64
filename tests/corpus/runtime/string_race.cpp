// Two threads, one string, nothing between them: the bytes are copied within
// the C++ library, which is not instrumented.
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

static std::string message;
static std::atomic<bool> ready{false};

static void writer() {
  message = "a message that is too long to be kept in place";
  ready.store(true, std::memory_order_relaxed);
}

static void reader() {
  if (ready.load(std::memory_order_relaxed)) {
    std::string copy = message;
    if (copy.empty()) std::abort();
  }
}

int main() {
  std::thread first(writer), second(reader);
  first.join();
  second.join();
  return 0;
}
