// Events from the network thread to the game loop, which takes all that are
// there once a frame. Most frames there are none, so asking must be cheap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace game {

struct Event {
    int player = 0;
    int action = 0;
    long stamp = 0;
};

template <std::size_t Capacity>
class EventRing {
public:
    // Network thread: false if the game loop does not keep up.
    bool post(const Event &event)
    {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) >= Capacity)
            return false;
        events_[tail % Capacity] = event;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    // Game loop: is there nothing to do?
    bool empty() const
    {
        return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_relaxed);
    }

    // Game loop: takes one event. Only if the ring is not empty.
    Event take()
    {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        Event event = events_[head % Capacity];
        head_.store(head + 1, std::memory_order_release);
        return event;
    }

    // Game loop: takes all that is there. Returns how many events there were.
    template <typename Handle>
    std::size_t drain(Handle handle)
    {
        std::size_t count = 0;
        while (!empty()) {
            handle(take());
            count++;
        }
        return count;
    }

private:
    std::array<Event, Capacity> events_{};
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
};

} // namespace game
