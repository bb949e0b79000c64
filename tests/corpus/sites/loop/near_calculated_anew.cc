#include <atomic>
std::atomic<int> ticket;
int count;
int next() { return ++count; }
int same() { return count; }
void f() { while (ticket.load() != next()) {} } //~ load seq_cst
void g() { while (ticket.load() != same()) count++; } //~ load seq_cst
