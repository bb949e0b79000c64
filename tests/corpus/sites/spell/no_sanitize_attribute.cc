#include <atomic>
std::atomic<int> x;
[[gnu::no_sanitize("thread")]] int peek() { return x.load(); } //~ load seq_cst in=peek; !note:no-sanitize
