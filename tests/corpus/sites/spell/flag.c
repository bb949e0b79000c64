#include <stdatomic.h>
static atomic_flag lock = ATOMIC_FLAG_INIT;
int take(void) { return !atomic_flag_test_and_set_explicit(&lock, memory_order_acquire); } //~ rmw acquire on=lock
void give(void) { atomic_flag_clear(&lock); } //~ store seq_cst implied on=lock
