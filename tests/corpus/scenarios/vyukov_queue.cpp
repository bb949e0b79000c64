// Dmitry Vyukov's bounded queue for many producers and many consumers.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <cstddef>
#include <optional>

class Queue {
    struct Cell {
        std::atomic<std::size_t> sequence;
        int data;
    };
    static constexpr std::size_t size = 2;
    Cell cells[size];
    std::atomic<std::size_t> back{0}, front{0};

public:
    Queue()
    {
        for (std::size_t i = 0; i < size; ++i)
            cells[i].sequence.store(i, std::memory_order_relaxed);
    }

    bool push(int data)
    {
        std::size_t at = back.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[at % size];
            auto ahead = static_cast<std::ptrdiff_t>(cell.sequence.load(std::memory_order_acquire) - at);
            if (ahead < 0)
                return false;
            if (ahead > 0) {
                at = back.load(std::memory_order_relaxed);
            } else if (back.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                cell.data = data;
                cell.sequence.store(at + 1, std::memory_order_release);
                return true;
            }
        }
    }

    std::optional<int> pop()
    {
        std::size_t at = front.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[at % size];
            auto ahead = static_cast<std::ptrdiff_t>(cell.sequence.load(std::memory_order_acquire) - (at + 1));
            if (ahead < 0)
                return {};
            if (ahead > 0) {
                at = front.load(std::memory_order_relaxed);
            } else if (front.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                int data = cell.data;
                cell.sequence.store(at + size, std::memory_order_release);
                return data;
            }
        }
    }
};

WMFIX_OBJECT(Queue)
WMFIX_OPERATION(push, any, refuses, (Queue &q, int v) { return q.push(v); })
WMFIX_OPERATION(pop, any, refuses, (Queue &q) { return q.pop(); })
