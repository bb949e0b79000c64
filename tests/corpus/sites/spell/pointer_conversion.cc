#include <atomic>
std::atomic<int*> p;
int f() { return *p; } //~ load seq_cst on=p
bool g() { return p == nullptr; } //~ load seq_cst on=p
