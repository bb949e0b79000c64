#pragma once

#include <atomic>

namespace intern {

// A pointer to something that is made when it is first needed, and stays.
template <typename T>
class Lazy {
public:
    Lazy() = default;
    Lazy(const Lazy &) = delete;
    Lazy &operator=(const Lazy &) = delete;
    ~Lazy() { delete pointer_.load(std::memory_order_relaxed); }

    // Null if it has not been made.
    T *get() const { return pointer_.load(std::memory_order_acquire); }

    // Whether it has been made, for statistics.
    T *peek() const { return pointer_.load(std::memory_order_relaxed); }

    template <typename Make>
    T *get_or_make(Make make)
    {
        T *found = get();
        if (found != nullptr)
            return found;
        T *made = make();
        if (pointer_.compare_exchange_strong(found, made, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
            return made;
        delete made;
        return found;
    }

private:
    std::atomic<T *> pointer_{nullptr};
};

} // namespace intern
