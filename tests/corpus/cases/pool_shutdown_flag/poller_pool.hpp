// A pool of threads that poll devices until the pool is told to stop. The reason
// of the stop is there for each poller's last words.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace poll {

struct Stop {
    int code = 0;
    std::string reason;
};

class PollerPool {
public:
    using Poll = std::function<void(int poller)>;
    using Farewell = std::function<void(int poller, const Stop &stop)>;

    PollerPool(int pollers, Poll poll, Farewell farewell)
        : poll_(std::move(poll)), farewell_(std::move(farewell))
    {
        for (int poller = 0; poller < pollers; poller++)
            threads_.emplace_back([this, poller] { run(poller); });
    }

    PollerPool(const PollerPool &) = delete;
    PollerPool &operator=(const PollerPool &) = delete;

    ~PollerPool()
    {
        if (!stopping_.load(std::memory_order_relaxed))
            stop(0, "destroyed");
        join();
    }

    // Tells the pollers to stop, from one thread and once.
    void stop(int code, std::string reason)
    {
        stop_.code = code;
        stop_.reason = std::move(reason);
        stopping_.store(true, std::memory_order_relaxed);
    }

    void join()
    {
        for (std::thread &thread : threads_)
            thread.join();
        threads_.clear();
    }

    // How often all pollers have polled together.
    long polls() const { return polls_.load(std::memory_order_relaxed); }

private:
    void run(int poller)
    {
        while (!stopping_.load(std::memory_order_relaxed)) {
            poll_(poller);
            polls_.fetch_add(1, std::memory_order_relaxed);
            std::this_thread::yield();
        }
        farewell_(poller, stop_);
    }

    Poll poll_;
    Farewell farewell_;
    Stop stop_;
    std::atomic<bool> stopping_{false};
    std::atomic<long> polls_{0};
    std::vector<std::thread> threads_;
};

} // namespace poll
