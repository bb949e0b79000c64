#include <atomic>
struct Queue { void push(int); };
std::atomic<int> x;
void f(Queue& q) {
  while (x.load() == 0) q.push(1); //~ load seq_cst
}
