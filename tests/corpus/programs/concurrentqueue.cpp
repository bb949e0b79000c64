// Three producers and two consumers on moodycamel::ConcurrentQueue: nothing may
// be lost or doubled.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <concurrentqueue/concurrentqueue.h>

int main()
{
    constexpr int producers = 3, consumers = 2, each = 40;
    moodycamel::ConcurrentQueue<int> queue;
    std::atomic<int> taken{0};
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p)
        threads.emplace_back([&, p] {
            for (int i = 0; i < each; ++i)
                queue.enqueue(p * each + i);
        });
    for (int c = 0; c < consumers; ++c)
        threads.emplace_back([&] {
            int item;
            while (taken.load() < producers * each) {
                if (queue.try_dequeue(item)) {
                    sum += item;
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    long n = producers * each;
    std::printf("sum %ld of %ld\n", sum.load(), n * (n - 1) / 2);
    return sum.load() == n * (n - 1) / 2 ? 0 : 1;
}
