#include <atomic>
std::atomic<int> x;
void run(int);
void f() {
  for (int i = 0; i < 3; i++) {
    auto wait = [] { while (x.load() == 0) {} }; //~ load seq_cst spin(!=0)
    run(i);
  }
}
