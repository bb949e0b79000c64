// Each stage fills its own part of a buffer and lets go of it. Whoever is last
// frees it.
#include "shared_buffer.hpp"

#include <cassert>
#include <thread>
#include <vector>

int main()
{
    const int stages = 3;
    pipeline::BufferRef whole(stages * 4);
    std::vector<std::thread> threads;
    for (int stage = 0; stage < stages; stage++) {
        threads.emplace_back([part = whole, stage]() mutable {
            for (int i = 0; i < 4; i++)
                part[stage * 4 + i] = static_cast<unsigned char>(stage + i);
            for (int i = 0; i < 4; i++)
                assert(part[stage * 4 + i] == stage + i);
            part = pipeline::BufferRef();
        });
    }
    whole = pipeline::BufferRef();
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
