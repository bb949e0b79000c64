// A ring for one producer and one consumer.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <optional>

template <typename T, unsigned Size> class Ring {
    T slots[Size];
    std::atomic<unsigned> head{0}, tail{0};

public:
    bool push(T item)
    {
        unsigned at = tail.load(std::memory_order_relaxed);
        if (at - head.load(std::memory_order_acquire) == Size)
            return false;
        slots[at % Size] = item;
        tail.store(at + 1, std::memory_order_release);
        return true;
    }

    std::optional<T> pop()
    {
        unsigned at = head.load(std::memory_order_relaxed);
        if (at == tail.load(std::memory_order_acquire))
            return {};
        T item = slots[at % Size];
        head.store(at + 1, std::memory_order_release);
        return item;
    }
};

typedef Ring<int, 2> ring;
WMFIX_OBJECT(ring)
WMFIX_ROLE(producer, 1)
WMFIX_ROLE(consumer, 1)
WMFIX_OPERATION(push, producer, (ring &r, int v) { return r.push(v); })
WMFIX_OPERATION(pop, consumer, (ring &r) { return r.pop(); })
