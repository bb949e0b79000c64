#include <atomic>
int next() {
  static std::atomic<int> id{0};
  return id++; //~ rmw seq_cst on=id in=next
}
