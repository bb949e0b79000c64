#include <atomic>
struct Guard { std::atomic<bool>& b; ~Guard() { b.store(false, std::memory_order_release); } }; //~ store release on=b in=~Guard
