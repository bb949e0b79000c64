#include <atomic>
std::atomic<int> x;
void f() { do { } while (x.load() != 1); } //~ load seq_cst spin(==1)
int g() {
  int v;
  do {
    v = x.load(); //~ load seq_cst spin(!=0)
  } while (v == 0);
  return v;
}
