#include <atomic>
int f(std::atomic<int>& x, const std::atomic<bool>& stop) {
  if (stop) return 0; //~ load seq_cst on=stop
  x += 2; //~ rmw seq_cst callee=+=
  return x; //~ load seq_cst on=x statement=returnx
}
