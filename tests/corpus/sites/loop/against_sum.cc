#include <atomic>
std::atomic<unsigned long> tail, seq;
void f(unsigned long ticket) { while (tail.load() < ticket) {} } //~ load seq_cst
void g(unsigned long now, unsigned long limit) { while (now - seq.load() > limit) {} } //~ load seq_cst
void h(unsigned long start, unsigned long n) { while (tail.load() - start < n) {} } //~ load seq_cst
void i(unsigned long want) { while (tail.load() + 1 != want) {} } //~ load seq_cst spin(==want-(1))
void j(unsigned long n) { while (tail.load() - seq.load() < n) {} } //~ load seq_cst; load seq_cst
