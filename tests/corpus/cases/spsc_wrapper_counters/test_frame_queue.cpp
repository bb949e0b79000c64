#include "frame_queue.hpp"

#include <cstdio>
#include <thread>

static audio::Frame frame_at(long position)
{
    audio::Frame frame;
    frame.position = position;
    for (std::size_t i = 0; i < frame.samples.size(); i++)
        frame.samples[i] = static_cast<short>(position * 10 + static_cast<long>(i));
    return frame;
}

int main()
{
    const long frames = 10;
    audio::FrameQueue<4> queue;
    int wrong = 0;

    std::thread decoder([&queue] {
        for (long i = 0; i < frames; i++) {
            while (!queue.push(frame_at(i)))
                std::this_thread::yield();
        }
    });
    std::thread callback([&queue, &wrong] {
        for (long i = 0; i < frames; i++) {
            audio::Frame frame;
            while (!queue.pop(frame))
                std::this_thread::yield();
            if (frame.position != i || frame.samples != frame_at(i).samples)
                wrong++;
        }
    });
    decoder.join();
    callback.join();
    if (wrong != 0 || queue.size() != 0) {
        std::printf("%d wrong frames, %zu left\n", wrong, queue.size());
        return 1;
    }
    return 0;
}
