// LevelDB's skip list as it is meant to be used: one thread inserts, two read
// without a lock. What a reader sees is sorted, and never gets less.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "db/skiplist.h"
#include "util/arena.h"

struct Compare {
    int operator()(int a, int b) const { return a < b ? -1 : a > b; }
};
using List = leveldb::SkipList<int, Compare>;

static int count_sorted(const List &list)
{
    List::Iterator at(&list);
    int count = 0, last = -1;
    for (at.SeekToFirst(); at.Valid(); at.Next(), ++count) {
        if (at.key() <= last)
            return -1;
        last = at.key();
    }
    return count;
}

int main()
{
    constexpr int keys = 40;
    leveldb::Arena arena;
    List list(Compare(), &arena);
    std::atomic<bool> good{true};
    std::vector<std::thread> readers;
    for (int r = 0; r < 2; ++r)
        readers.emplace_back([&] {
            int before = 0;
            while (before < keys && good) {
                int now = count_sorted(list);
                if (now < before)
                    good = false;
                if (now == before)
                    std::this_thread::yield();
                before = now;
            }
        });
    for (int i = 0; i < keys; ++i)
        list.Insert(i * 17 % keys);
    for (auto &reader : readers)
        reader.join();
    std::printf("%d keys, %s\n", count_sorted(list), good ? "sorted" : "broken");
    return good && count_sorted(list) == keys ? 0 : 1;
}
