#pragma once
#include <atomic>

#define FORCE_INLINE inline __attribute__((always_inline))
#define NOT_CHECKED
#define API

template <class T>
class API Cell {
public:
    NOT_CHECKED Cell() : value_() {}
    FORCE_INLINE T load() const NOT_CHECKED
    {
        return value_.load(std::memory_order_relaxed); // via 1
    }
    FORCE_INLINE void store(T v) NOT_CHECKED { value_.store(v, std::memory_order_relaxed); }
    FORCE_INLINE operator T() const NOT_CHECKED
    {
        return value_.load(std::memory_order_relaxed); // via 2
    }
    FORCE_INLINE Cell &operator=(T v) NOT_CHECKED
    {
        value_.store(v, std::memory_order_relaxed);
        return *this;
    }

private:
#ifdef WITHOUT_ATOMICS
    volatile T value_;
#else
    std::atomic<T> value_;
#endif
};
