#include <atomic>
std::atomic<int> turn;
int f() { int me = 0; while (turn.load() != me) me++; return me; } //~ load seq_cst
