// Two producers and two consumers on two of atomic_queue's bounded queues.
#include <cstdio>
#include <thread>
#include <vector>

#include <atomic_queue/atomic_queue.h>

template <class Queue> long run()
{
    constexpr unsigned each = 60;
    static Queue queue;
    long sums[2] = {0, 0};
    std::vector<std::thread> threads;
    for (unsigned p = 0; p < 2; ++p)
        threads.emplace_back([p] {
            for (unsigned i = 1; i <= each; ++i)
                queue.push(p * each + i);
        });
    for (unsigned c = 0; c < 2; ++c)
        threads.emplace_back([&sums, c] {
            for (unsigned i = 0; i < each; ++i)
                sums[c] += queue.pop();
        });
    for (auto &thread : threads)
        thread.join();
    return sums[0] + sums[1];
}

int main()
{
    long first = run<atomic_queue::AtomicQueue<unsigned, 16>>();
    long second = run<atomic_queue::AtomicQueue2<unsigned, 16>>();
    std::printf("sums %ld %ld\n", first, second);
    return first == 7260 && second == 7260 ? 0 : 1;
}
