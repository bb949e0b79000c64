#define my_memory_order_relaxed __ATOMIC_RELAXED
#define MY_MEMORY_ORDER_ACQUIRE __ATOMIC_ACQUIRE
#define odd_memory_order_acquire __ATOMIC_SEQ_CST
int n;
int f(void) { return __atomic_load_n(&n, my_memory_order_relaxed); } //~ load relaxed literal order=my_memory_order_relaxed
int g(void) { return __atomic_load_n(&n, MY_MEMORY_ORDER_ACQUIRE); } //~ load acquire literal order=MY_MEMORY_ORDER_ACQUIRE
int h(void) { return __atomic_load_n(&n, rte_memory_order_acquire); } //~ load acquire literal order=rte_memory_order_acquire
int i(void) { return __atomic_load_n(&n, odd_memory_order_acquire); } //~ load seq_cst not-literal order=odd_memory_order_acquire
