#include <atomic>
std::atomic<int> x;
void work();
void f() { while (x.load() != 1) work(); } //~ load seq_cst
