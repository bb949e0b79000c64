// A ring for one producer and one consumer in the style of a published library: `push`
// waits inside for room, `front` gives a pointer that the caller asks for as often as it
// likes, and both sides remember how far the other had come.
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>

class BlockingRing {
public:
    explicit BlockingRing(std::size_t size) : size_(size), slots_(new int[size]()) {}

    void push(int value) {
        const std::size_t at = write_at_.load(std::memory_order_relaxed);
        const std::size_t next = following(at);
        while (next == known_read_at_) known_read_at_ = read_at_.load(std::memory_order_acquire);
        slots_[at] = value;
        write_at_.store(next, std::memory_order_release);
    }

    const int *front() {
        const std::size_t at = read_at_.load(std::memory_order_relaxed);
        if (at == known_write_at_) {
            known_write_at_ = write_at_.load(std::memory_order_acquire);
            if (at == known_write_at_) return nullptr;
        }
        return &slots_[at];
    }

    void pop() {
        const std::size_t at = read_at_.load(std::memory_order_relaxed);
        assert(write_at_.load(std::memory_order_acquire) != at);
        read_at_.store(following(at), std::memory_order_release);
    }

private:
    std::size_t following(std::size_t at) const { return at + 1 == size_ ? 0 : at + 1; }

    const std::size_t size_;
    const std::unique_ptr<int[]> slots_;
    alignas(64) std::atomic<std::size_t> write_at_{0};
    alignas(64) std::size_t known_read_at_ = 0;
    alignas(64) std::atomic<std::size_t> read_at_{0};
    alignas(64) std::size_t known_write_at_ = 0;
};

int main() {
    BlockingRing ring(5);
    std::thread producer([&] {
        for (int i = 0; i < 20; ++i) ring.push(i);
    });
    for (int i = 0; i < 20; ++i) {
        while (!ring.front()) {}
        assert(*ring.front() == i);
        ring.pop();
    }
    producer.join();
    assert(!ring.front());
    std::puts("all there");
    return 0;
}
