// Readers walk the list while keys are put in: they see keys in order, and what
// they have seen once stays there.
#include "skiplist.hpp"

#include <cstdio>
#include <thread>

int main()
{
    memtable::SkipList<int> list;
    const int keys[] = {50, 10, 70, 30, 60, 20};
    std::vector<int> wrong(2);

    std::vector<std::thread> readers;
    for (int me = 0; me < 2; me++) {
        readers.emplace_back([&list, &mine = wrong[me]] {
            int seen = 0;
            for (int round = 0; round < 2; round++) {
                int last = 0;
                int count = 0;
                list.for_each([&](int key) {
                    if (key <= last)
                        mine++;
                    last = key;
                    count++;
                });
                if (count < seen)
                    mine++;
                seen = count;
                list.contains(30);
            }
        });
    }
    for (int key : keys)
        list.insert(key);
    for (std::thread &reader : readers)
        reader.join();
    for (int key : keys) {
        if (!list.contains(key))
            wrong[0]++;
    }
    if (wrong[0] + wrong[1] != 0) {
        std::printf("%d times wrong\n", wrong[0] + wrong[1]);
        return 1;
    }
    return 0;
}
