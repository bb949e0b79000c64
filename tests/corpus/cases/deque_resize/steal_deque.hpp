// A work-stealing deque that grows. The owner pushes and pops at the bottom and
// replaces the ring by one of twice the size when it is full; thieves may still
// look at an old ring, so rings are kept until the deque goes away.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tasks {

template <typename T>
class StealDeque {
public:
    explicit StealDeque(std::size_t capacity = 2)
    {
        rings_.push_back(std::make_unique<Ring>(capacity));
        ring_.store(rings_.back().get(), std::memory_order_relaxed);
    }

    StealDeque(const StealDeque &) = delete;
    StealDeque &operator=(const StealDeque &) = delete;

    // Owner only.
    void push(T item)
    {
        std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        std::int64_t top = top_.load(std::memory_order_acquire);
        Ring *ring = ring_.load(std::memory_order_relaxed);
        if (bottom - top >= static_cast<std::int64_t>(ring->capacity))
            ring = grow(ring, top, bottom);
        ring->put(bottom, item);
        std::atomic_thread_fence(std::memory_order_release);
        bottom_.store(bottom + 1, std::memory_order_relaxed);
    }

    // Owner only.
    std::optional<T> pop()
    {
        std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
        Ring *ring = ring_.load(std::memory_order_relaxed);
        bottom_.store(bottom, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        std::int64_t top = top_.load(std::memory_order_relaxed);
        if (top > bottom) {
            bottom_.store(bottom + 1, std::memory_order_relaxed);
            return std::nullopt;
        }
        std::optional<T> item = ring->get(bottom);
        if (top == bottom) {
            if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                              std::memory_order_relaxed))
                item = std::nullopt;
            bottom_.store(bottom + 1, std::memory_order_relaxed);
        }
        return item;
    }

    // Any thread.
    std::optional<T> steal()
    {
        std::int64_t top = top_.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        std::int64_t bottom = bottom_.load(std::memory_order_acquire);
        if (top >= bottom)
            return std::nullopt;
        // Only what the ring says about itself is read through this pointer.
        Ring *ring = ring_.load(std::memory_order_relaxed);
        T item = ring->get(top);
        if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                          std::memory_order_relaxed))
            return std::nullopt;
        return item;
    }

private:
    struct Ring {
        explicit Ring(std::size_t size)
            : capacity(size), slots(std::make_unique<std::atomic<T>[]>(size))
        {
        }

        void put(std::int64_t at, T item)
        {
            slots[static_cast<std::size_t>(at) % capacity].store(item, std::memory_order_relaxed);
        }
        T get(std::int64_t at) const
        {
            return slots[static_cast<std::size_t>(at) % capacity].load(std::memory_order_relaxed);
        }

        std::size_t capacity;
        std::unique_ptr<std::atomic<T>[]> slots;
    };

    Ring *grow(Ring *old, std::int64_t top, std::int64_t bottom)
    {
        auto bigger = std::make_unique<Ring>(old->capacity * 2);
        for (std::int64_t i = top; i < bottom; i++)
            bigger->put(i, old->get(i));
        rings_.push_back(std::move(bigger));
        Ring *ring = rings_.back().get();
        ring_.store(ring, std::memory_order_relaxed);
        return ring;
    }

    alignas(64) std::atomic<std::int64_t> top_{0};
    alignas(64) std::atomic<std::int64_t> bottom_{0};
    std::atomic<Ring *> ring_{nullptr};
    std::vector<std::unique_ptr<Ring>> rings_;
};

} // namespace tasks
