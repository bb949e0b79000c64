#include <atomic>
struct Backoff { void pause(); };
std::atomic<int> x;
void f() {
  Backoff backoff;
  while (x.load() == 0) backoff.pause(); //~ load seq_cst
}
