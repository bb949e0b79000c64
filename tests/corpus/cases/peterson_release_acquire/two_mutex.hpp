// Mutual exclusion of two threads by plain loads and stores, after Peterson: for
// memory that is shared with a device which has no read-modify-write operations.
#pragma once

#include "shared_word.hpp"

#include <thread>

namespace mutex2 {

class TwoMutex {
public:
    // The sides are 0 and 1.
    void lock(int side)
    {
        const int other = 1 - side;
        wants_[side].set(1);
        turn_.set(other);
        while (wants_[other].get() && turn_.get() == other)
            std::this_thread::yield();
    }

    bool try_lock(int side)
    {
        const int other = 1 - side;
        wants_[side].set(1);
        turn_.set(other);
        if (wants_[other].get() && turn_.get() == other) {
            wants_[side].set(0);
            return false;
        }
        return true;
    }

    void unlock(int side) { wants_[side].set(0); }

    // For std::lock_guard.
    class Side {
    public:
        Side(TwoMutex &mutex, int side) : mutex_(mutex), side_(side) {}
        void lock() { mutex_.lock(side_); }
        bool try_lock() { return mutex_.try_lock(side_); }
        void unlock() { mutex_.unlock(side_); }

    private:
        TwoMutex &mutex_;
        int side_;
    };

private:
    SharedWord wants_[2];
    SharedWord turn_;
};

} // namespace mutex2
