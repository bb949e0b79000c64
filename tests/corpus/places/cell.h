#pragma once
#include <atomic>

template <class T>
class Cell {
    std::atomic<T> value_{};

public:
    T load() const
    {
        return value_.load(std::memory_order_relaxed); // via 1
    }
    void store(T v) { value_.store(v, std::memory_order_relaxed); }
    operator T() const
    {
        return value_.load(std::memory_order_relaxed); // via 2
    }
    Cell &operator=(T v)
    {
        value_.store(v, std::memory_order_relaxed);
        return *this;
    }
};
