#include <atomic>
using Flag = std::atomic<bool>;
typedef std::atomic<unsigned long> Count;
template <class T> using Cell = std::atomic<T>;
Flag up;
Count n;
Cell<int> cell;
void f() {
  up = true; //~ store seq_cst on=up
  n++; //~ rmw seq_cst on=n
  cell.store(1); //~ store seq_cst on=cell
}
