// Objects of a class whose arguments are long.
#include <atomic>
#include <thread>

template <class Traits, int Slots, int Rounds> struct Registry {
    static std::atomic<int> entries;
    static std::atomic<int> seen;
};
template <class Traits, int Slots, int Rounds>
std::atomic<int> Registry<Traits, Slots, Rounds>::entries{0};
template <class Traits, int Slots, int Rounds>
std::atomic<int> Registry<Traits, Slots, Rounds>::seen{0};

struct TraitsOfSomethingWithALongName {};
using Used = Registry<TraitsOfSomethingWithALongName, 100, 200>;

int main()
{
    std::thread other([] {
        Used::seen.store(1, std::memory_order_relaxed);
        Used::entries.load(std::memory_order_relaxed);
    });
    Used::entries.store(1, std::memory_order_relaxed);
    Used::seen.load(std::memory_order_relaxed);
    other.join();
    return 0;
}
