#include <atomic>
std::atomic<int> x;
void take(std::atomic<int>& a);
void takep(std::atomic<int>* a);
std::atomic<int>& give() { return x; }
void f() {
  take(x);
  takep(&x);
  auto* p = &x;
  auto& r = x;
  r = 1; //~ store seq_cst on=r
  p->load(); //~ load seq_cst on=p
  (void)sizeof(x);
}
