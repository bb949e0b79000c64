#include <atomic>
struct S {
  std::atomic<bool> on;
  void f() { this->on = true; this->on.store(false); } //~ store seq_cst on=this->on callee==; store seq_cst on=this->on callee=store
};
