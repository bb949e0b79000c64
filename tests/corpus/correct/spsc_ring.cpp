// A ring for one producer and one consumer.
#include <atomic>
#include <cassert>
#include <thread>

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

    bool pop(T &item)
    {
        unsigned at = head.load(std::memory_order_relaxed);
        if (at == tail.load(std::memory_order_acquire))
            return false;
        item = slots[at % Size];
        head.store(at + 1, std::memory_order_release);
        return true;
    }
};

int main()
{
    constexpr int items = 6;
    Ring<int, 2> ring;
    std::thread producer([&] {
        for (int item = 1; item <= items;)
            item += ring.push(item);
    });
    for (int expected = 1; expected <= items;) {
        int item;
        if (ring.pop(item)) {
            assert(item == expected);
            ++expected;
        }
    }
    producer.join();
}
