#include <atomic>
std::atomic<int> n;
void f() { while (n.fetch_add(1) < 4) {} } //~ rmw seq_cst
