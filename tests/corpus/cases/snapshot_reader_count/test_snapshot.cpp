#include "snapshot.hpp"

#include <cstdio>
#include <thread>

struct Limits {
    int low, high;
    ~Limits() { low = high = -1; }
};

int main()
{
    conf::Snapshot<Limits> limits(new Limits{0, 10});
    bool right = true;
    std::thread reader([&] {
        for (int i = 0; i < 3; i++)
            right &= limits.read([](const Limits &now) { return now.high - now.low == 10; });
    });
    for (int i = 1; i <= 3; i++)
        limits.replace(new Limits{i, i + 10});
    reader.join();
    if (!right)
        std::puts("limits that do not belong together");
    return right ? 0 : 1;
}
