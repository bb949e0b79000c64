// A sequence lock: a writer, and readers that try again.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <utility>

struct SeqLock {
    std::atomic<unsigned> sequence{0};
    std::atomic<int> left{0}, right{0};

    void write(int value)
    {
        unsigned now = sequence.load(std::memory_order_relaxed);
        sequence.store(now + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        left.store(value, std::memory_order_relaxed);
        right.store(value, std::memory_order_relaxed);
        sequence.store(now + 2, std::memory_order_release);
    }

    std::pair<int, int> read() const
    {
        for (;;) {
            unsigned before = sequence.load(std::memory_order_acquire);
            int a = left.load(std::memory_order_relaxed);
            int b = right.load(std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_acquire);
            if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before)
                return {a, b};
        }
    }
};

WMFIX_OBJECT(SeqLock)
WMFIX_ROLE(writer, 1)
WMFIX_OPERATION(write, writer, (SeqLock &s, int v) { s.write(v); })
WMFIX_OPERATION(read, any, (const SeqLock &s) { return s.read(); })
