// Xenium's Chase-Lev work stealing deque: one owner, two thieves; and its
// seqlock with one writer and two readers.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <xenium/chase_work_stealing_deque.hpp>
#include <xenium/seqlock.hpp>

struct pair {
    long a, b;
};

static long steal()
{
    constexpr int items = 60;
    static int values[items];
    xenium::chase_work_stealing_deque<int> deque;
    std::atomic<long> sum{0};
    std::atomic<int> taken{0};
    std::vector<std::thread> thieves;
    for (int t = 0; t < 2; ++t)
        thieves.emplace_back([&] {
            int *item;
            while (taken.load() < items) {
                if (deque.try_steal(item)) {
                    sum += *item;
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    int *item;
    for (int i = 0; i < items; ++i) {
        values[i] = i;
        deque.try_push(&values[i]);
        if (i % 3 == 0 && deque.try_pop(item)) {
            sum += *item;
            ++taken;
        }
    }
    while (deque.try_pop(item)) {
        sum += *item;
        ++taken;
    }
    for (auto &thief : thieves)
        thief.join();
    return sum.load();
}

static bool consistent()
{
    xenium::seqlock<pair> lock(pair{0, 0});
    std::atomic<bool> good{true};
    std::vector<std::thread> readers;
    for (int r = 0; r < 2; ++r)
        readers.emplace_back([&] {
            for (int i = 0; i < 30; ++i) {
                pair read = lock.load();
                if (read.a != read.b)
                    good = false;
            }
        });
    for (long i = 1; i <= 20; ++i)
        lock.store(pair{i, i});
    for (auto &reader : readers)
        reader.join();
    return good.load();
}

int main()
{
    long sum = steal();
    bool good = consistent();
    std::printf("sum %ld, pairs %s\n", sum, good ? "whole" : "torn");
    return sum == 1770 && good ? 0 : 1;
}
