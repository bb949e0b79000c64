// A worker that is told to stop, and counts what it does.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<bool> stop{false};
static std::atomic<unsigned long> rounds{0}, errors{0};

int main()
{
    std::thread worker([] {
        while (!stop.load(std::memory_order_relaxed)) {
            rounds.fetch_add(1, std::memory_order_relaxed);
            if (rounds.load(std::memory_order_relaxed) == 0)
                errors.fetch_add(1, std::memory_order_relaxed);
        }
    });
    while (rounds.load(std::memory_order_relaxed) < 3)
        std::this_thread::yield();
    stop.store(true, std::memory_order_relaxed);
    worker.join();
    assert(rounds.load() >= 3 && errors.load() == 0);
}
