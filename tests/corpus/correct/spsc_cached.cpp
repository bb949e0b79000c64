// A ring for one producer and one consumer, each of which remembers how far the other had
// come when it last looked, and looks again only when that is not enough.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

template <typename T>
class CachedRing {
public:
    explicit CachedRing(std::size_t capacity) : slots_(capacity + 1) {}

    bool try_push(const T &value) {
        const std::size_t at = tail_.load(std::memory_order_relaxed);
        const std::size_t next = at + 1 == slots_.size() ? 0 : at + 1;
        if (next == seen_head_) {
            seen_head_ = head_.load(std::memory_order_acquire);
            if (next == seen_head_) return false;
        }
        slots_[at] = value;
        tail_.store(next, std::memory_order_release);
        return true;
    }

    T *front() {
        const std::size_t at = head_.load(std::memory_order_relaxed);
        if (at == seen_tail_) {
            seen_tail_ = tail_.load(std::memory_order_acquire);
            if (at == seen_tail_) return nullptr;
        }
        return &slots_[at];
    }

    void pop() {
        const std::size_t at = head_.load(std::memory_order_relaxed);
        head_.store(at + 1 == slots_.size() ? 0 : at + 1, std::memory_order_release);
    }

private:
    std::vector<T> slots_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::size_t seen_head_ = 0;
    alignas(64) std::atomic<std::size_t> tail_{0};
    alignas(64) std::size_t seen_tail_ = 0;
};

int main() {
    CachedRing<int> ring(3);
    std::thread producer([&] {
        for (int i = 1; i <= 12; ++i)
            while (!ring.try_push(i)) std::this_thread::yield();
    });
    long sum = 0;
    for (int i = 1; i <= 12; ++i) {
        int *front;
        while (!(front = ring.front())) std::this_thread::yield();
        if (*front != i) { std::fprintf(stderr, "got %d instead of %d\n", *front, i); std::abort(); }
        sum += *front;
        ring.pop();
    }
    producer.join();
    std::printf("sum %ld\n", sum);
    return sum == 78 ? 0 : 1;
}
