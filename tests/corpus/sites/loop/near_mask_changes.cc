#include <atomic>
std::atomic<unsigned> s;
unsigned next(unsigned);
void f() { unsigned m = 1; while (s.load() & m) m = next(m); } //~ load seq_cst
