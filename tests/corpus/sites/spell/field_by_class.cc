#include <atomic>
struct A { std::atomic<int> n; };
struct B { int n; };
void f(A& a, B& b, A* pa, B* pb) {
  a.n = 1; //~ store seq_cst on=a.n
  b.n = 1;
  pa->n++; //~ rmw seq_cst on=pa->n
  pb->n++;
}
