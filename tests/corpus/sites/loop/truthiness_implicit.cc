#include <atomic>
std::atomic<bool> ready;
void f() { while (!ready) ; } //~ load seq_cst on=ready spin(!=0)
