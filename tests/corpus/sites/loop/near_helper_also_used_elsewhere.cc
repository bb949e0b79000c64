#include <atomic>
std::atomic<int> x;
static bool ready() { return x.load() == 1; } //~ load seq_cst in=ready
void f() { while (!ready()) ; }
bool g() { return ready(); }
