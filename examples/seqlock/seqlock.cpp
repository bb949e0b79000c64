// A sequence lock: one thread moves a point about, others copy it without ever
// making the mover wait. The sequence number is odd while the point is being
// moved; a reader whose number has changed meanwhile throws its copy away.
#include <atomic>
#include <cstdio>
#include <thread>

struct Point {
    int x, y, z;
};

class SharedPoint {
public:
    // Called by one thread only.
    void move_to(Point to)
    {
        unsigned before = sequence.load(std::memory_order_relaxed);
        sequence.store(before + 1, std::memory_order_relaxed);
        x.store(to.x, std::memory_order_relaxed);
        y.store(to.y, std::memory_order_relaxed);
        z.store(to.z, std::memory_order_relaxed);
        sequence.store(before + 2, std::memory_order_release);
    }

    // Whether the copy is good: not if the point was moved meanwhile.
    bool try_copy(Point &copy) const
    {
        unsigned before = sequence.load(std::memory_order_acquire);
        if (before % 2 != 0)
            return false;
        copy.x = x.load(std::memory_order_acquire);
        copy.y = y.load(std::memory_order_acquire);
        copy.z = z.load(std::memory_order_acquire);
        return sequence.load(std::memory_order_relaxed) == before;
    }

private:
    std::atomic<unsigned> sequence{0};
    std::atomic<int> x{0}, y{0}, z{0};
};

int main()
{
    const int moves = 4;
    const int copies = 4;
    SharedPoint point;
    int torn = 0;

    std::thread mover([&] {
        for (int i = 1; i <= moves; i++)
            point.move_to({i, 10 * i, 100 * i});
    });
    std::thread reader([&] {
        for (int i = 0; i < copies; i++) {
            Point copy{};
            while (!point.try_copy(copy))
                std::this_thread::yield();
            if (copy.y != 10 * copy.x || copy.z != 100 * copy.x)
                torn++;
        }
    });
    mover.join();
    reader.join();
    std::printf("%d of %d copies were torn\n", torn, copies);
    return torn == 0 ? 0 : 1;
}
