#include <atomic>
#include <thread>
std::atomic<unsigned> serving, tickets;
void lock() {
  auto mine = tickets.fetch_add(1); //~ rmw seq_cst on=tickets
  while (serving.load(std::memory_order_acquire) != mine) std::this_thread::yield(); //~ load acquire on=serving spin(==mine)
}
