#include <atomic>
#include <cstddef>
std::atomic<std::size_t> ticket;
std::size_t capacity;
std::size_t turn(std::size_t i) { return i / capacity; }
void f(std::size_t head) { while (turn(head) * 2 != ticket.load(std::memory_order_acquire)) {} } //~ load acquire spin(==turn(head)*2)
