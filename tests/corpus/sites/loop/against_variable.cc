#include <atomic>
std::atomic<int> turn;
void f(int me) { while (turn.load(std::memory_order_acquire) != me) {} } //~ load acquire spin(==me)
void g(const int* want) { while (turn.load() != *want) {} } //~ load seq_cst spin(==*want)
