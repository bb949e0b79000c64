#include <atomic>
void f(std::atomic<int>* p) {
  p->store(1, std::memory_order_release); //~ store release on=p
  *p = 2; //~ store seq_cst implied on=*p callee==
  (*p)++; //~ rmw seq_cst on=*p callee=++
  p++;
  int v = *p; //~ load seq_cst on=*p callee=read
  (void)v;
}
