#include <atomic>
std::atomic<int> x, waiters;
void prepare_wait() {
  waiters.fetch_add(1); //~ rmw seq_cst on=waiters
}
void wait_until(int n) {
  while (x.load(std::memory_order_acquire) < n) //~ load acquire on=x
    prepare_wait();
}
