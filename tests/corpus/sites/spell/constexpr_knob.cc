#include <atomic>
constexpr std::memory_order kPublish = std::memory_order_release;
std::atomic<int> x;
void f() { x.store(1, kPublish); } //~ store release not-literal order=kPublish
