#include <atomic>
std::atomic<int> head, tail;
void f() { while (head.load() == tail.load()) {} } //~ load seq_cst on=head; load seq_cst on=tail
