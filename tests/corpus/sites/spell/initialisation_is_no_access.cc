#include <atomic>
std::atomic<int> a{0};
std::atomic<int> b(1);
std::atomic<int> c = {2};
struct S { std::atomic<int> d{3}; std::atomic<int> e; S() : e(4) {} };
