// An object that several threads share. Each one counts itself off when it has
// finished; the last one closes the books and deletes the object.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

class Ledger {
public:
    Ledger(int holders, int *result) : holders(holders), entries(holders), result(result) {}

    void enter(int holder, int amount) { entries[holder] += amount; }

    void release()
    {
        if (holders.fetch_sub(1, std::memory_order_relaxed) == 1)
            delete this;
    }

private:
    ~Ledger()
    {
        for (int amount : entries)
            *result += amount;
    }

    std::atomic<int> holders;
    std::vector<int> entries;
    int *result;
};

int main()
{
    const int threads = 3;
    int total = 0;
    auto *ledger = new Ledger(threads, &total);
    std::vector<std::thread> workers;
    for (int me = 0; me < threads; me++) {
        workers.emplace_back([ledger, me] {
            for (int i = 1; i <= 4; i++)
                ledger->enter(me, i);
            ledger->release();
        });
    }
    for (std::thread &worker : workers)
        worker.join();
    std::printf("the books say %d of %d\n", total, threads * 10);
    return total == threads * 10 ? 0 : 1;
}
