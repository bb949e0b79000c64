#include <atomic>
std::atomic<int> slots[8];
int f(int i) {
  slots[i].store(1); //~ store seq_cst on=slots[i]
  slots[i + 1] = 2; //~ store seq_cst on=slots[i+1]
  slots[i]++; //~ rmw seq_cst on=slots[i]
  return slots[0]; //~ load seq_cst on=slots[0]
}
