// A reference count: the last one to let go looks at what all have written.
#include <wmfix/scenarios.hpp>

#include <atomic>

struct Shared {
    std::atomic<int> count{1};
    int notes[4] = {};

    // Adds to the slot of its thread; the last one sums them up.
    int let_go(int note)
    {
        notes[wmfix::thread()] = note;
        if (count.fetch_sub(1, std::memory_order_release) != 1)
            return 0;
        std::atomic_thread_fence(std::memory_order_acquire);
        return notes[0] + notes[1] + notes[2] + notes[3];
    }
};

struct Two : Shared {
    Two() { count.fetch_add(1, std::memory_order_relaxed); }
};

WMFIX_OBJECT(Two)
WMFIX_ROLE(first, 1)
WMFIX_ROLE(second, 1)
WMFIX_OPERATION(drop, first, once, (Two &s, int v) { return s.let_go(v); })
WMFIX_OPERATION(leave, second, once, (Two &s, int v) { return s.let_go(v); })
