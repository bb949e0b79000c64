#include <atomic>
std::atomic<int> l;
int next();
void f() { while (l.exchange(next()) == 1) {} } //~ rmw seq_cst
