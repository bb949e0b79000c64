#include <atomic>
std::atomic<int> x;
void f() { for (; x.load() != 1;) ; } //~ load seq_cst spin(==1)
