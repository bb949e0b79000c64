#include <atomic>
std::atomic<int> x, y;
void f() { while (x.load() != 1) y.store(2); } //~ load seq_cst; store seq_cst
