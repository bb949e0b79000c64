#include <atomic>
using namespace std;
atomic<int> x;
int f() { return x.load(memory_order_acquire); } //~ load acquire literal order=memory_order_acquire
void g() { x = 3; } //~ store seq_cst implied on=x callee==
void h() { atomic_thread_fence(memory_order_seq_cst); } //~ fence seq_cst literal
