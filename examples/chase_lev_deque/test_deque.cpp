// An owner and a thief work through a few tasks. Each task must be done once.
#include "deque.hpp"

#include <cstdio>
#include <thread>
#include <vector>

struct Task {
    int number = 0;
};

int main()
{
    const int rounds = 2;
    const int tasks_a_round = 2;
    const int count = rounds * tasks_a_round;
    Deque deque;
    std::vector<Task> tasks(count);
    std::vector<int> by_owner(count), by_thief(count);

    std::thread owner([&] {
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < tasks_a_round; i++) {
                int number = round * tasks_a_round + i;
                tasks[number].number = number;
                deque.push(&tasks[number]);
            }
            while (const Task *task = deque.take())
                by_owner[task->number]++;
        }
    });
    std::thread thief([&] {
        for (int attempt = 0; attempt < count; attempt++) {
            if (const Task *task = deque.steal())
                by_thief[task->number]++;
            else
                std::this_thread::yield();
        }
    });
    owner.join();
    thief.join();

    int done_once = 0;
    for (int i = 0; i < count; i++)
        done_once += by_owner[i] + by_thief[i] == 1;
    std::printf("%d of %d tasks were done once\n", done_once, count);
    return done_once == count ? 0 : 1;
}
