#include <atomic>
std::atomic<int> x;
int rounds;
void f() { while (x.load() != 1) rounds++; } //~ load seq_cst looped
