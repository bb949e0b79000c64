#include "ticket_lock.hpp"

#include <cstdio>
#include <mutex>
#include <vector>

int main()
{
    const int threads = 3;
    const int rounds = 3;
    spin::TicketLock lock;
    std::vector<int> journal;

    std::vector<std::thread> workers;
    for (int me = 0; me < threads; me++) {
        workers.emplace_back([&, me] {
            for (int i = 0; i < rounds; i++) {
                std::lock_guard<spin::TicketLock> guard(lock);
                journal.push_back(me);
            }
        });
    }
    for (std::thread &worker : workers)
        worker.join();
    if (journal.size() != threads * rounds || lock.queue_length() != 0) {
        std::printf("%zu entries\n", journal.size());
        return 1;
    }
    return 0;
}
