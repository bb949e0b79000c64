// Dmitry Vyukov's bounded queue for many producers and many consumers.
#include <atomic>
#include <cassert>
#include <cstddef>
#include <thread>

class Queue {
    static constexpr std::size_t size = 2;
    struct Cell {
        std::atomic<std::size_t> sequence;
        int data;
    };
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
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto ahead = static_cast<std::ptrdiff_t>(sequence - at);
            if (ahead == 0) {
                if (back.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    cell.data = data;
                    cell.sequence.store(at + 1, std::memory_order_release);
                    return true;
                }
            } else if (ahead < 0) {
                return false;
            } else {
                at = back.load(std::memory_order_relaxed);
            }
        }
    }

    bool pop(int &data)
    {
        std::size_t at = front.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[at % size];
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto ahead = static_cast<std::ptrdiff_t>(sequence - (at + 1));
            if (ahead == 0) {
                if (front.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    data = cell.data;
                    cell.sequence.store(at + size, std::memory_order_release);
                    return true;
                }
            } else if (ahead < 0) {
                return false;
            } else {
                at = front.load(std::memory_order_relaxed);
            }
        }
    }
};

int main()
{
    Queue queue;
    int sums[2] = {0, 0};
    auto produce = [&](int first) {
        for (int item = first; item < first + 2;)
            item += queue.push(item);
    };
    auto consume = [&](int &sum) {
        for (int taken = 0; taken < 2;) {
            int item;
            if (queue.pop(item)) {
                sum += item;
                ++taken;
            }
        }
    };
    std::thread threads[] = {
        std::thread(produce, 1),
        std::thread(produce, 10),
        std::thread(consume, std::ref(sums[0])),
        std::thread(consume, std::ref(sums[1])),
    };
    for (auto &thread : threads)
        thread.join();
    assert(sums[0] + sums[1] == 1 + 2 + 10 + 11);
}
