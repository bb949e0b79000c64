#include <atomic>
std::atomic<unsigned> s;
void f() { while (s.load() & 4) {} } //~ load seq_cst spin(&4==0)
void g() { while ((s.load() & 0x8) != 8) {} } //~ load seq_cst spin(&8==8)
void h() { while (!(s.load() & 1u)) {} } //~ load seq_cst spin(&1!=0)
