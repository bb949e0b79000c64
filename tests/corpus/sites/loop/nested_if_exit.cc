#include <atomic>
std::atomic<int> x;
int f() {
  while (true) {
    int v = x.load(); //~ load seq_cst spin(==2,any)
    if (v == 2) {
      return 1;
    } else if (v == 3) {
      return 2;
    }
  }
}
