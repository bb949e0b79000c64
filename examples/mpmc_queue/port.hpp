// This project's own words for atomics. The order is the end of the name, and a
// name without one is sequentially consistent.
#pragma once

#include <atomic>

template <class T> T port_load_relaxed(const std::atomic<T> &from)
{
    return from.load(std::memory_order_relaxed);
}

template <class T> T port_load_acquire(const std::atomic<T> &from)
{
    return from.load(std::memory_order_acquire);
}

template <class T> T port_load(const std::atomic<T> &from)
{
    return from.load(std::memory_order_seq_cst);
}

template <class T> void port_store_relaxed(std::atomic<T> &to, T value)
{
    to.store(value, std::memory_order_relaxed);
}

template <class T> void port_store_release(std::atomic<T> &to, T value)
{
    to.store(value, std::memory_order_release);
}

template <class T> void port_store(std::atomic<T> &to, T value)
{
    to.store(value, std::memory_order_seq_cst);
}

// These give back what was there before.

template <class T> T port_add_relaxed(std::atomic<T> &to, T value)
{
    return to.fetch_add(value, std::memory_order_relaxed);
}

template <class T> T port_add_acquire(std::atomic<T> &to, T value)
{
    return to.fetch_add(value, std::memory_order_acquire);
}

template <class T> T port_add_release(std::atomic<T> &to, T value)
{
    return to.fetch_add(value, std::memory_order_release);
}

template <class T> T port_add_acq_rel(std::atomic<T> &to, T value)
{
    return to.fetch_add(value, std::memory_order_acq_rel);
}

template <class T> T port_add(std::atomic<T> &to, T value)
{
    return to.fetch_add(value, std::memory_order_seq_cst);
}

inline void port_fence()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
