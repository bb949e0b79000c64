#include "event_ring.hpp"

#include <cstdio>
#include <thread>

int main()
{
    const int events = 8;
    game::EventRing<4> ring;
    int wrong = 0;

    std::thread network([&ring] {
        for (int i = 0; i < events; i++) {
            game::Event event;
            event.player = i;
            event.action = i * 2;
            event.stamp = i * 3L;
            while (!ring.post(event))
                std::this_thread::yield();
        }
    });
    std::thread loop([&ring, &wrong] {
        int next = 0;
        while (next < events) {
            std::size_t count = ring.drain([&](const game::Event &event) {
                if (event.player != next || event.action != next * 2 || event.stamp != next * 3L)
                    wrong++;
                next++;
            });
            if (count == 0)
                std::this_thread::yield();
        }
    });
    network.join();
    loop.join();
    if (wrong != 0)
        std::printf("%d wrong events\n", wrong);
    return wrong != 0;
}
