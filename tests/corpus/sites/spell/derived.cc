#include <atomic>
struct Counter : std::atomic<int> { using std::atomic<int>::atomic; };
Counter c;
void f() { c++; c.fetch_sub(1); } //~ rmw seq_cst on=c; rmw seq_cst on=c
