// A test-and-test-and-set lock.
#include <atomic>
#include <cassert>
#include <thread>

class Lock {
    std::atomic<bool> taken{false};

public:
    void lock()
    {
        while (taken.exchange(true, std::memory_order_acquire))
            while (taken.load(std::memory_order_relaxed))
                ;
    }
    void unlock() { taken.store(false, std::memory_order_release); }
};

int main()
{
    Lock lock;
    int counter = 0;
    auto work = [&] {
        for (int i = 0; i < 3; ++i) {
            lock.lock();
            ++counter;
            lock.unlock();
        }
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    assert(counter == 6);
}
