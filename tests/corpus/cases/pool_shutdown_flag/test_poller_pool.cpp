#include "poller_pool.hpp"

#include <cstdio>

int main()
{
    int codes[2] = {0, 0};
    bool told[2] = {false, false};
    {
        poll::PollerPool pool(
            2, [](int) {},
            [&](int poller, const poll::Stop &stop) {
                codes[poller] = stop.code;
                told[poller] = stop.reason == "maintenance";
            });
        pool.stop(7, "maintenance");
    }
    if (codes[0] != 7 || codes[1] != 7 || !told[0] || !told[1]) {
        std::printf("codes %d and %d\n", codes[0], codes[1]);
        return 1;
    }
    return 0;
}
