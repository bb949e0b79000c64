#include <atomic>
std::atomic<int> x;
int f() { return x; } //~ load seq_cst on=x
int g(int x) { x = 2; return x; }
int h() { int x = 0; x++; { std::atomic<int> x; x++; } return x; } //~ rmw seq_cst
