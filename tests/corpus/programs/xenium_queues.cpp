// Xenium's Michael-Scott queue with hazard pointers and its Vyukov queue.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <xenium/michael_scott_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>
#include <xenium/vyukov_bounded_queue.hpp>

using reclaimer =
    xenium::reclamation::hazard_pointer<>::with<xenium::policy::allocation_strategy<
        xenium::reclamation::hp_allocation::static_strategy<3>>>;
using unbounded = xenium::michael_scott_queue<int, xenium::policy::reclaimer<reclaimer>>;
using bounded = xenium::vyukov_bounded_queue<int>;

template <class Queue> long run(Queue &queue)
{
    constexpr int each = 40;
    std::atomic<long> sum{0};
    std::atomic<int> taken{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < 2; ++p)
        threads.emplace_back([&, p] {
            for (int i = 1; i <= each; ++i) {
                if constexpr (std::is_same_v<Queue, bounded>)
                    while (!queue.try_push(p * each + i))
                        std::this_thread::yield();
                else
                    queue.push(p * each + i);
            }
        });
    for (int c = 0; c < 2; ++c)
        threads.emplace_back([&] {
            int item;
            while (taken.load() < 2 * each) {
                if (queue.try_pop(item)) {
                    sum += item;
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    return sum.load();
}

int main()
{
    unbounded first;
    bounded second(16);
    long a = run(first), b = run(second);
    std::printf("sums %ld %ld\n", a, b);
    return a == 3240 && b == 3240 ? 0 : 1;
}
