#include <atomic>
#include <memory>
#include <thread>

// The reference counts are the library's, and so are their orders.

static std::shared_ptr<int> shared = std::make_shared<int>(1);
static int a, b;

static void use(int &result)
{
    std::shared_ptr<int> own = shared;
    result = *own;
}

int main()
{
    std::atomic<std::shared_ptr<int>> cell(shared);
    std::thread one([&] {
        use(a);
        cell.store(shared);
        a += *cell.load();
    });
    std::thread two([&] {
        use(b);
        cell.store(shared);
        b += *cell.load();
    });
    one.join();
    two.join();
    return a + b > 10;
}
