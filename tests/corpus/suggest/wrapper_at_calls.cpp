#include <atomic>
#include <thread>

using mark = int;

struct slot {
    void set(slot *link)
    {
        value.store(mark(link ? 2 : 1), std::memory_order_release);
    }
    std::atomic<mark> value{0};
};

struct slots {
    void init(slot &one)
    {
        one.set(nullptr);
        one.set(&one);
        one.value.store(0, std::memory_order_relaxed);
    }
    void release(slot *&one, slot *&hint)
    {
        if (one != nullptr) {
            one->set(hint);
            hint = one;
            one = nullptr;
        }
    }
    slot left, right;
};

static slots all;
static int got[2];

static void leave(slot *own, slot &other, int *seen)
{
    slot *hint = nullptr;
    all.release(own, hint);
    *seen = other.value.load(std::memory_order_acquire);
    *seen += other.value.load(std::memory_order_acquire);
}

int main()
{
    all.init(all.left);
    all.init(all.right);
    std::thread one(leave, &all.left, std::ref(all.right), &got[0]);
    std::thread two(leave, &all.right, std::ref(all.left), &got[1]);
    one.join();
    two.join();
    return got[0] + got[1] == 0;
}
