#pragma once

#include <atomic>

namespace conf {

// Counts the readers that are inside.
class ReaderGate {
public:
    class Pass {
    public:
        explicit Pass(ReaderGate &gate) : gate_(gate) { gate_.enter(); }
        ~Pass() { gate_.leave(); }
        Pass(const Pass &) = delete;
        Pass &operator=(const Pass &) = delete;

    private:
        ReaderGate &gate_;
    };

    void wait_until_empty() const
    {
        while (inside_.load(std::memory_order_acquire) != 0) {
        }
    }

private:
    void enter()
    {
        inside_.fetch_add(1, std::memory_order_acquire);
    }

    void leave()
    {
        inside_.fetch_sub(1, std::memory_order_release);
    }

    std::atomic<int> inside_{0};
};

// A value that many read and one thread replaces now and then.
template <typename T>
class Snapshot {
public:
    explicit Snapshot(const T *first) : current_(first) {}
    ~Snapshot() { delete current_.load(std::memory_order_relaxed); }

    template <typename Use>
    auto read(Use use)
    {
        ReaderGate::Pass pass(gate_);
        return use(*current_.load(std::memory_order_acquire));
    }

    void replace(const T *next)
    {
        const T *old = current_.exchange(next, std::memory_order_acq_rel);
        gate_.wait_until_empty();
        delete old;
    }

private:
    ReaderGate gate_;
    std::atomic<const T *> current_;
};

} // namespace conf
