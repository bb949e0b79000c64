#include "two_mutex.hpp"

#include <cstdio>
#include <mutex>

int main()
{
    const int rounds = 4;
    mutex2::TwoMutex mutex;
    long balance = 0;

    auto work = [&](int side, long amount) {
        mutex2::TwoMutex::Side mine(mutex, side);
        for (int i = 0; i < rounds; i++) {
            std::lock_guard<mutex2::TwoMutex::Side> guard(mine);
            balance += amount;
        }
    };
    std::thread a(work, 0, 1L);
    std::thread b(work, 1, 100L);
    a.join();
    b.join();
    if (balance != 101L * rounds) {
        std::printf("%ld instead of %ld\n", balance, 101L * rounds);
        return 1;
    }
    return 0;
}
