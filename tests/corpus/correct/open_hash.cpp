// A table with open addresses: a key is claimed first, then its value is published.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>
#include <vector>

struct Value {
  int a, b;
};

class Table {
  static constexpr unsigned kSize = 8;
  struct Entry {
    std::atomic<uint32_t> key{0};
    std::atomic<Value *> value{nullptr};
  };
  Entry entries_[kSize];

public:
  ~Table() {
    for (auto &entry : entries_)
      delete entry.value.load(std::memory_order_relaxed);
  }

  bool insert(uint32_t key, int payload) {
    for (unsigned i = key;; i++) {
      Entry &entry = entries_[i % kSize];
      uint32_t probed = entry.key.load(std::memory_order_relaxed);
      if (probed != key) {
        if (probed != 0)
          continue;
        uint32_t expected = 0;
        if (!entry.key.compare_exchange_strong(expected, key, std::memory_order_relaxed) &&
            expected != key)
          continue;
      }
      auto *value = new Value{payload, -payload};
      Value *none = nullptr;
      if (entry.value.compare_exchange_strong(none, value, std::memory_order_release,
                                              std::memory_order_relaxed))
        return true;
      delete value;
      return false;
    }
  }

  const Value *find(uint32_t key) const {
    for (unsigned i = key;; i++) {
      const Entry &entry = entries_[i % kSize];
      uint32_t probed = entry.key.load(std::memory_order_relaxed);
      if (probed == 0)
        return nullptr;
      if (probed == key)
        return entry.value.load(std::memory_order_acquire);
    }
  }
};

int main() {
  Table table;
  std::atomic<int> inserted{0};
  auto look = [&](uint32_t key) {
    if (auto *value = table.find(key))
      assert(value->a == -value->b);
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= 2; t++)
    threads.emplace_back([&, t] {
      for (uint32_t key = 1; key <= 4; key++)
        inserted += table.insert(key * t, int(key));
      for (uint32_t key = 1; key <= 8; key++)
        look(key);
    });
  threads.emplace_back([&] {
    for (uint32_t key = 8; key >= 1; key--)
      look(key);
  });
  for (auto &thread : threads)
    thread.join();
  assert(inserted == 6);
}
