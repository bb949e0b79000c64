#include <atomic>
struct Config { void load(); void store(int); void clear(); int exchange(int); };
struct Image { void load(const char* name); };
std::atomic<int> x;
void f(Config c, Config* p, Image i) {
  c.load();
  p->store(1);
  c.clear();
  p->exchange(2);
  i.load("a.png");
  x.load(); //~ load seq_cst on=x
}
