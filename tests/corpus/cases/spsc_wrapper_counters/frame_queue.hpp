// Audio frames from the decoder to the callback of the sound card. The callback
// must never wait.
#pragma once

#include "counter.hpp"

#include <array>

namespace audio {

struct Frame {
    long position = 0;
    std::array<short, 4> samples{};
};

template <std::size_t Capacity>
class FrameQueue {
    static_assert((Capacity & (Capacity - 1)) == 0, "a power of two");

public:
    // Decoder: false if there is no room.
    bool push(const Frame &frame)
    {
        std::size_t tail = tail_.get();
        if (tail - head_.get() == Capacity)
            return false;
        frames_[tail & (Capacity - 1)] = frame;
        tail_.set(tail + 1);
        return true;
    }

    // Callback: false if there is nothing.
    bool pop(Frame &frame)
    {
        std::size_t head = head_.get();
        if (head == tail_.get())
            return false;
        frame = frames_[head & (Capacity - 1)];
        head_.set(head + 1);
        return true;
    }

    // How many frames are waiting; a moment's picture.
    std::size_t size() const { return tail_.get() - head_.get(); }

private:
    Counter head_;
    Counter tail_;
    std::array<Frame, Capacity> frames_{};
};

} // namespace audio
