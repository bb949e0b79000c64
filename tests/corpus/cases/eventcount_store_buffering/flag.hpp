#pragma once

#include <atomic>

namespace work {

// A flag that one thread raises and others look at and lower.
class Flag {
public:
    void raise() { up_.store(true, std::memory_order_release); }
    void lower() { up_.store(false, std::memory_order_release); }
    bool is_up() const { return up_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> up_{false};
};

} // namespace work
