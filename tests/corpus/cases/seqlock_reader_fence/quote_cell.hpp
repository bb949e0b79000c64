// The last quote of an instrument: one feed handler writes it, strategies read it
// as often as they like without slowing the handler down.
#pragma once

#include <atomic>
#include <cstdint>

namespace market {

struct Quote {
    std::int64_t bid = 0;
    std::int64_t ask = 0;
    std::int64_t time = 0;
};

class QuoteCell {
public:
    // The feed handler only.
    void write(const Quote &quote)
    {
        std::uint32_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bid_.store(quote.bid, std::memory_order_relaxed);
        ask_.store(quote.ask, std::memory_order_relaxed);
        time_.store(quote.time, std::memory_order_relaxed);
        version_.store(version + 2, std::memory_order_release);
    }

    // Any thread: false if a write was under way.
    bool try_read(Quote &quote) const
    {
        std::uint32_t before = version_.load(std::memory_order_acquire);
        if (before & 1)
            return false;
        quote.bid = bid_.load(std::memory_order_relaxed);
        quote.ask = ask_.load(std::memory_order_relaxed);
        quote.time = time_.load(std::memory_order_relaxed);
        return version_.load(std::memory_order_acquire) == before;
    }

    Quote read() const
    {
        Quote quote;
        while (!try_read(quote)) {
        }
        return quote;
    }

private:
    std::atomic<std::uint32_t> version_{0};
    std::atomic<std::int64_t> bid_{0};
    std::atomic<std::int64_t> ask_{0};
    std::atomic<std::int64_t> time_{0};
};

} // namespace market
