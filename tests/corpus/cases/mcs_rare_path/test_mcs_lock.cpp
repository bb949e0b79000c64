// Two numbers are kept equal under the lock.
#include "mcs_lock.hpp"

#include <cstdio>
#include <vector>

int main()
{
    const int threads = 3;
    const int rounds = 4;
    locks::McsLock lock;
    int left = 0;
    int right = 0;
    std::vector<int> differences(threads);

    std::vector<std::thread> workers;
    for (int me = 0; me < threads; me++) {
        workers.emplace_back([&, me] {
            for (int i = 0; i < rounds; i++) {
                locks::McsLock::Guard guard(lock);
                if (left != right)
                    differences[me]++;
                left++;
                right++;
            }
        });
    }
    for (std::thread &worker : workers)
        worker.join();

    int wrong = left != threads * rounds || right != left;
    for (int difference : differences)
        wrong += difference;
    if (wrong)
        std::printf("%d and %d, %d wrong\n", left, right, wrong);
    return wrong != 0;
}
