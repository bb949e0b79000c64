#include <atomic>
std::atomic<bool> a, b;
bool f() { return a.load() and not b.load(); } //~ load seq_cst on=a; load seq_cst on=b
