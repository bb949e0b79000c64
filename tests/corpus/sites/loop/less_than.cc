#include <atomic>
std::atomic<int> n;
void f() { while (n.load() < 4) {} } //~ load seq_cst spin(>=4)
void g() { while (4 > n.load()) {} } //~ load seq_cst spin(>=4)
void h() { while (n.load() >= 4) {} } //~ load seq_cst spin(<4)
