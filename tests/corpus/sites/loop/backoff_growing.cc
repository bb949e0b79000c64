#include <atomic>
#define pause() __asm__ volatile("pause")
std::atomic<int> x;
void f() {
  unsigned wait = 1;
  while (x.load() == 0) { //~ load seq_cst spin(!=0)
    for (unsigned i = 0; i < wait; i++) pause();
    wait *= 2;
  }
}
