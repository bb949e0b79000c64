// A bounded queue for many producers and many consumers. Every cell has a
// sequence number that says whose turn it is: a producer's at its position, a
// consumer's one later.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace bounded {

template <typename T>
class Queue {
public:
    explicit Queue(std::size_t capacity)
        : cells_(std::make_unique<Cell[]>(capacity)), mask_(capacity - 1)
    {
        for (std::size_t i = 0; i < capacity; i++)
            cells_[i].sequence.store(i, std::memory_order_relaxed);
    }

    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    bool try_push(T value)
    {
        std::size_t position = push_position_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells_[position & mask_];
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto ahead = static_cast<std::intptr_t>(sequence - position);
            if (ahead == 0) {
                if (push_position_.compare_exchange_weak(position, position + 1,
                                                         std::memory_order_relaxed)) {
                    cell.value = std::move(value);
                    cell.sequence.store(position + 1, std::memory_order_relaxed);
                    return true;
                }
            } else if (ahead < 0) {
                return false;
            } else {
                position = push_position_.load(std::memory_order_relaxed);
            }
        }
    }

    bool try_pop(T &value)
    {
        std::size_t position = pop_position_.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells_[position & mask_];
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto ahead = static_cast<std::intptr_t>(sequence - (position + 1));
            if (ahead == 0) {
                if (pop_position_.compare_exchange_weak(position, position + 1,
                                                        std::memory_order_relaxed)) {
                    value = std::move(cell.value);
                    cell.sequence.store(position + mask_ + 1, std::memory_order_release);
                    return true;
                }
            } else if (ahead < 0) {
                return false;
            } else {
                position = pop_position_.load(std::memory_order_relaxed);
            }
        }
    }

private:
    struct Cell {
        std::atomic<std::size_t> sequence{0};
        T value{};
    };

    std::unique_ptr<Cell[]> cells_;
    const std::size_t mask_;
    alignas(64) std::atomic<std::size_t> push_position_{0};
    alignas(64) std::atomic<std::size_t> pop_position_{0};
};

} // namespace bounded
