#include <atomic>
bool timed_out();
std::atomic<int> x;
void f() { while (x.load() != 1) { if (timed_out()) break; } } //~ load seq_cst
