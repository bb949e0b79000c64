#include <atomic>
std::atomic<int> x;
void work();
void f() { do { work(); } while (x.load() != 1); } //~ load seq_cst
