#include <atomic>
#include <memory>
std::unique_ptr<std::atomic<int>> p;
std::unique_ptr<std::atomic<int>[]> a;
void f() {
  *p = 1; //~ store seq_cst on=*p
  p->store(2); //~ store seq_cst on=p
  a[3] = 1; //~ store seq_cst on=a[3]
}
