#include <atomic>
std::atomic_flag lock = ATOMIC_FLAG_INIT;
bool take() { return !lock.test_and_set(std::memory_order_acquire); } //~ rmw acquire on=lock
void give() { lock.clear(std::memory_order_release); } //~ store release on=lock
void reset() { lock.clear(); } //~ store seq_cst implied
bool taken() { return lock.test(); } //~ load seq_cst
