#include <atomic>
std::atomic ready{false};
void f() { ready = true; } //~ store seq_cst on=ready
bool g() { return ready; } //~ load seq_cst on=ready
