#include <atomic>
#include <cstdlib>
#include <thread>
auto constexpr A = std::memory_order_acquire;
auto constexpr R = std::memory_order_release;
auto constexpr X = std::memory_order_relaxed;
static std::atomic<int> state{0}, other{0};
static int data;
static void pop()
{
    int expected = 1;
    if (state.compare_exchange_strong(expected, 2, X, X))
        if (data != 7)
            std::abort();
    if (other.load(A) == 2)
        std::abort();
}
static void push()
{
    data = 7;
    state.store(1, R);
    other.store(1, R);
}
int main()
{
    std::thread one(push), two(pop);
    one.join();
    two.join();
}
