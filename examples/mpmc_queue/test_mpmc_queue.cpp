// Two senders and two receivers share a queue that is smaller than what goes
// through it. Everything sent must be received, once.
#include "mpmc_queue.hpp"

#include <cstdio>
#include <thread>
#include <vector>

struct Parcel {
    int number = 0;
    int twice = 0;
};

int main()
{
    const int pairs = 2;
    const int each = 2;
    const int count = pairs * each;
    MpmcQueue<Parcel, 2> queue;
    std::vector<std::vector<int>> received(pairs, std::vector<int>(count));
    std::vector<std::thread> threads;

    for (int me = 0; me < pairs; me++) {
        threads.emplace_back([&queue, me] {
            for (int i = 0; i < each; i++) {
                int number = me * each + i;
                queue.send({number, 2 * number});
            }
        });
        threads.emplace_back([&queue, &received, me] {
            for (int i = 0; i < each; i++) {
                Parcel parcel = queue.receive();
                if (parcel.twice == 2 * parcel.number)
                    received[me][parcel.number]++;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();

    int arrived_once = 0;
    for (int i = 0; i < count; i++)
        arrived_once += received[0][i] + received[1][i] == 1;
    std::printf("%d of %d parcels arrived once\n", arrived_once, count);
    return arrived_once == count ? 0 : 1;
}
