#pragma once

#include <atomic>

namespace mutex2 {

// A word that two threads share.
class SharedWord {
public:
    explicit SharedWord(int value = 0) : value_(value) {}
    SharedWord(const SharedWord &) = delete;
    SharedWord &operator=(const SharedWord &) = delete;

    int get() const { return value_.load(std::memory_order_acquire); }
    void set(int value) { value_.store(value, std::memory_order_release); }

private:
    std::atomic<int> value_;
};

} // namespace mutex2
