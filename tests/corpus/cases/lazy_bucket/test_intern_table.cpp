// Numbers are added and asked for by several threads. What a thread has seen once
// stays there, and what nobody adds is never found.
#include "intern_table.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main()
{
    intern::InternTable table;
    std::vector<int> wrong(3);

    std::vector<std::thread> threads;
    for (int me = 0; me < 2; me++) {
        threads.emplace_back([&table, &mine = wrong[me], me] {
            for (std::uint64_t number = 1; number <= 3; number++) {
                if (!table.add(number + 4u * static_cast<unsigned>(me)))
                    mine++;
                if (!table.contains(number + 4u * static_cast<unsigned>(me)))
                    mine++;
            }
        });
    }
    threads.emplace_back([&table, &mine = wrong[2]] {
        bool seen = false;
        for (int i = 0; i < 6; i++) {
            if (table.contains(9) || table.contains(10))
                mine++;
            bool now = table.contains(1);
            if (seen && !now)
                mine++;
            seen = now;
        }
    });
    for (std::thread &thread : threads)
        thread.join();
    int sum = wrong[0] + wrong[1] + wrong[2];
    if (sum != 0 || table.buckets_in_use() != 3) {
        std::printf("%d wrong answers\n", sum);
        return 1;
    }
    return 0;
}
