// Initialisation that is checked twice.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Thing {
    int value = 42;
};

static std::atomic<Thing *> instance{nullptr};
static std::mutex mutex;
static std::atomic<int> made{0};

static Thing *get()
{
    Thing *thing = instance.load(std::memory_order_acquire);
    if (!thing) {
        std::lock_guard<std::mutex> guard(mutex);
        thing = instance.load(std::memory_order_relaxed);
        if (!thing) {
            thing = new Thing;
            made.fetch_add(1, std::memory_order_relaxed);
            instance.store(thing, std::memory_order_release);
        }
    }
    return thing;
}

int main()
{
    std::thread one([] { assert(get()->value == 42); });
    std::thread two([] { assert(get()->value == 42); });
    one.join();
    two.join();
    assert(made.load() == 1);
    delete instance.load();
}
