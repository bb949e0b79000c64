// Two producers, two consumers: the sum of what goes in comes out.
#include "bounded_queue.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main()
{
    const int each = 3;
    bounded::Queue<long> queue(2);
    std::vector<long> sums(2);

    std::vector<std::thread> threads;
    for (int producer = 0; producer < 2; producer++) {
        threads.emplace_back([&queue, producer] {
            for (int i = 1; i <= each; i++) {
                while (!queue.try_push(producer * 100 + i))
                    std::this_thread::yield();
            }
        });
    }
    for (int consumer = 0; consumer < 2; consumer++) {
        threads.emplace_back([&queue, &sum = sums[consumer]] {
            for (int i = 0; i < each; i++) {
                long value = 0;
                while (!queue.try_pop(value))
                    std::this_thread::yield();
                sum += value;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    long expected = 6 + 306;
    if (sums[0] + sums[1] != expected) {
        std::printf("%ld instead of %ld\n", sums[0] + sums[1], expected);
        return 1;
    }
    return 0;
}
