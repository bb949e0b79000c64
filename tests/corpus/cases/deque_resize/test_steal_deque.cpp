// The owner fills the deque past its first size while thieves are at work; no
// item is lost and none is got twice.
#include "steal_deque.hpp"

#include <cstdio>
#include <thread>

int main()
{
    const int items = 10;
    tasks::StealDeque<int> deque(2);
    std::vector<std::vector<int>> got(3, std::vector<int>(items));

    std::vector<std::thread> thieves;
    for (int me = 1; me < 3; me++) {
        thieves.emplace_back([&deque, &mine = got[me]] {
            for (int i = 0; i < 6; i++) {
                if (std::optional<int> item = deque.steal())
                    mine[*item]++;
                else
                    std::this_thread::yield();
            }
        });
    }
    for (int i = 0; i < items; i++) {
        deque.push(i);
        if (i % 4 == 3) {
            if (std::optional<int> item = deque.pop())
                got[0][*item]++;
        }
    }
    while (std::optional<int> item = deque.pop())
        got[0][*item]++;
    for (std::thread &thief : thieves)
        thief.join();

    int wrong = 0;
    for (int i = 0; i < items; i++)
        wrong += got[0][i] + got[1][i] + got[2][i] != 1;
    if (wrong)
        std::printf("%d items were lost or doubled\n", wrong);
    return wrong != 0;
}
