#include <thread>

#include "cell.h"

// Store buffering four times: by a method, by a conversion, by a lambda, and by a
// function around a method.

static Cell<int> x1, y1, x2, y2, x4, y4;
static std::atomic<int> x3, y3;
static int seen[8];

static int get(const Cell<int> &cell) { return cell.load(); }

static void left()
{
    auto read = [](std::atomic<int> &a) {
        return a.load(std::memory_order_relaxed); // via 3
    };
    x1.store(1);
    seen[0] = y1.load(); // place 1
    x2 = 1;
    seen[1] = y2; // place 2
    x3.store(1, std::memory_order_relaxed);
    seen[2] = read(y3); // place 3
}

static void right()
{
    y1.store(1);
    seen[4] = x1.load(); // place 1
    y2 = 1;
    seen[5] = x2; // place 2
    y3.store(1, std::memory_order_relaxed);
    seen[6] = x3.load(std::memory_order_relaxed); // place 4
}

int main()
{
    std::thread one(left), two(right);
    one.join();
    two.join();
    return seen[0] + seen[4] + get(x4) + get(y4) > 2;
}
