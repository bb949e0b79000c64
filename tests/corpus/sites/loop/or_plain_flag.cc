#include <atomic>
std::atomic<int> x;
void f(const bool& stop) { while (!x.load() && !stop) {} } //~ load seq_cst
