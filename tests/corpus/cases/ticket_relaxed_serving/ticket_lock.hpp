// A fair spin lock: draw a number, wait until it is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace spin {

class TicketLock {
public:
    TicketLock() = default;
    TicketLock(const TicketLock &) = delete;
    TicketLock &operator=(const TicketLock &) = delete;

    void lock()
    {
        const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
        std::uint32_t rounds = 0;
        while (serving_.load(std::memory_order_acquire) != mine) {
            if (++rounds > kSpins)
                std::this_thread::yield();
        }
    }

    bool try_lock()
    {
        std::uint32_t serving = serving_.load(std::memory_order_acquire);
        return next_.compare_exchange_strong(serving, serving + 1, std::memory_order_relaxed);
    }

    void unlock()
    {
        // Nobody else writes this word while we hold the lock.
        const std::uint32_t mine = serving_.load(std::memory_order_relaxed);
        serving_.store(mine + 1, std::memory_order_relaxed);
    }

    // How many threads wait, or hold the lock.
    std::uint32_t queue_length() const
    {
        return next_.load(std::memory_order_relaxed) - serving_.load(std::memory_order_relaxed);
    }

private:
    static constexpr std::uint32_t kSpins = 4;

    alignas(64) std::atomic<std::uint32_t> next_{0};
    alignas(64) std::atomic<std::uint32_t> serving_{0};
};

} // namespace spin
