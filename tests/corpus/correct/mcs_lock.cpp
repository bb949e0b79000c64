// The queue lock of Mellor-Crummey and Scott.
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    std::atomic<Node *> next{nullptr};
    std::atomic<bool> waits{false};
};

static std::atomic<Node *> tail{nullptr};
static int counter;

static void lock(Node &node)
{
    node.next.store(nullptr, std::memory_order_relaxed);
    node.waits.store(true, std::memory_order_relaxed);
    Node *before = tail.exchange(&node, std::memory_order_acq_rel);
    if (before) {
        before->next.store(&node, std::memory_order_release);
        while (node.waits.load(std::memory_order_acquire))
            ;
    }
}

static void unlock(Node &node)
{
    Node *next = node.next.load(std::memory_order_acquire);
    if (!next) {
        Node *expected = &node;
        if (tail.compare_exchange_strong(expected, nullptr, std::memory_order_release,
                                         std::memory_order_relaxed))
            return;
        while (!(next = node.next.load(std::memory_order_acquire)))
            ;
    }
    next->waits.store(false, std::memory_order_release);
}

int main()
{
    auto work = [] {
        Node node;
        for (int i = 0; i < 3; ++i) {
            lock(node);
            ++counter;
            unlock(node);
        }
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    assert(counter == 6);
}
