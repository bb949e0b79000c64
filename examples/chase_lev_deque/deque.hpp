// The work-stealing deque of Chase and Lev. One thread, the owner, pushes and
// takes tasks at the bottom; other threads, the thieves, steal at the top. They
// need to agree only about the last task.
#pragma once

#include <atomic>
#include <cstddef>

struct Task;

class Deque {
public:
    // The owner's. False if there is no room.
    bool push(Task *task)
    {
        long b = bottom.load(std::memory_order_relaxed);
        long t = top.load(std::memory_order_acquire);
        if (b - t >= capacity)
            return false;
        slot(b).store(task, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bottom.store(b + 1, std::memory_order_relaxed);
        return true;
    }

    // The owner's. Null if there is nothing left.
    Task *take()
    {
        long b = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(b, std::memory_order_relaxed);
        long t = top.load(std::memory_order_relaxed);
        if (t > b) {
            bottom.store(b + 1, std::memory_order_relaxed);
            return nullptr;
        }
        Task *task = slot(b).load(std::memory_order_relaxed);
        if (t == b) {
            // The last one: a thief may want it too.
            if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                             std::memory_order_relaxed))
                task = nullptr;
            bottom.store(b + 1, std::memory_order_relaxed);
        }
        return task;
    }

    // A thief's. Null if there is nothing, or if somebody else was faster.
    Task *steal()
    {
        long t = top.load(std::memory_order_acquire);
        long b = bottom.load(std::memory_order_acquire);
        if (t >= b)
            return nullptr;
        Task *task = slot(t).load(std::memory_order_relaxed);
        if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                         std::memory_order_relaxed))
            return nullptr;
        return task;
    }

private:
    static constexpr long capacity = 4;

    std::atomic<Task *> &slot(long index)
    {
        return slots[static_cast<std::size_t>(index % capacity)];
    }

    std::atomic<long> top{0};
    std::atomic<long> bottom{0};
    std::atomic<Task *> slots[capacity] = {};
};
