#include <atomic>
std::atomic<int> x;
void f() { do { if (x.load()) break; } while (false); } //~ load seq_cst
