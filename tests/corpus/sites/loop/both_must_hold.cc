#include <atomic>
std::atomic<int> a, b;
void f() { while (!a.load() || !b.load()) {} } //~ load seq_cst on=a spin(!=0,all); load seq_cst on=b spin(!=0,all)
