// The queue lock of Mellor-Crummey and Scott, with the waiter's node on its own
// stack. Fair, and a waiter spins on its own cache line.
#pragma once

#include <atomic>
#include <thread>

namespace locks {

class McsLock {
public:
    struct Node {
        std::atomic<Node *> next{nullptr};
        std::atomic<bool> waiting{false};
    };

    McsLock() = default;
    McsLock(const McsLock &) = delete;
    McsLock &operator=(const McsLock &) = delete;

    void lock(Node &mine)
    {
        mine.next.store(nullptr, std::memory_order_relaxed);
        Node *before = tail_.exchange(&mine, std::memory_order_acq_rel);
        if (before == nullptr)
            return;
        mine.waiting.store(true, std::memory_order_relaxed);
        before->next.store(&mine, std::memory_order_release);
        while (mine.waiting.load(std::memory_order_acquire))
            std::this_thread::yield();
    }

    bool try_lock(Node &mine)
    {
        mine.next.store(nullptr, std::memory_order_relaxed);
        Node *nobody = nullptr;
        return tail_.compare_exchange_strong(nobody, &mine, std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    void unlock(Node &mine)
    {
        Node *after = mine.next.load(std::memory_order_acquire);
        if (after == nullptr) {
            Node *expected = &mine;
            if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_release,
                                              std::memory_order_relaxed))
                return;
            // Somebody has queued up behind us and is about to say so.
            while ((after = mine.next.load(std::memory_order_relaxed)) == nullptr)
                std::this_thread::yield();
        }
        after->waiting.store(false, std::memory_order_release);
    }

    // Holds the lock for a scope.
    class Guard {
    public:
        explicit Guard(McsLock &lock) : lock_(lock) { lock_.lock(node_); }
        ~Guard() { lock_.unlock(node_); }
        Guard(const Guard &) = delete;
        Guard &operator=(const Guard &) = delete;

    private:
        McsLock &lock_;
        Node node_;
    };

private:
    std::atomic<Node *> tail_{nullptr};
};

} // namespace locks
