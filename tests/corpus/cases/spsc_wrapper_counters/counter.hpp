// Counters that one thread writes and another reads.
#pragma once

#include <atomic>
#include <cstddef>

namespace audio {

class Counter {
public:
    Counter() = default;
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;

    // For the thread that writes it, and where only the number is of interest.
    std::size_t get() const { return value_.load(std::memory_order_relaxed); }
    void set(std::size_t value) { value_.store(value, std::memory_order_relaxed); }

    // For handing data over: what was written before publish() is seen after
    // observe() of the number.
    std::size_t observe() const { return value_.load(std::memory_order_acquire); }
    void publish(std::size_t value) { value_.store(value, std::memory_order_release); }

private:
    alignas(64) std::atomic<std::size_t> value_{0};
};

} // namespace audio
