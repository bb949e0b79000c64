// The inbox of a worker: one other thread puts items in, the worker takes them
// out and sleeps when there is nothing to do. Putting an item in costs no lock
// as long as the worker is awake.
#pragma once

#include "flag.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace work {

template <typename T, std::size_t Capacity>
class Inbox {
public:
    void put(const T &item)
    {
        while (!try_put(item))
            std::this_thread::yield();
        if (asleep_.is_up())
            wake();
    }

    T take()
    {
        T item;
        for (;;) {
            if (try_take(item))
                return item;
            // Say that we are going to sleep, then look once more.
            asleep_.raise();
            if (try_take(item)) {
                asleep_.lower();
                return item;
            }
            std::unique_lock<std::mutex> lock(mutex_);
            woken_.wait(lock, [this] { return !asleep_.is_up(); });
        }
    }

private:
    bool try_put(const T &item)
    {
        std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) == Capacity)
            return false;
        items_[tail % Capacity] = item;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    bool try_take(T &item)
    {
        std::size_t head = head_.load(std::memory_order_relaxed);
        if (tail_.load(std::memory_order_acquire) == head)
            return false;
        item = items_[head % Capacity];
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

    void wake()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            asleep_.lower();
        }
        woken_.notify_one();
    }

    std::atomic<std::size_t> head_{0};
    std::atomic<std::size_t> tail_{0};
    T items_[Capacity] = {};
    Flag asleep_;
    std::mutex mutex_;
    std::condition_variable woken_;
};

} // namespace work
