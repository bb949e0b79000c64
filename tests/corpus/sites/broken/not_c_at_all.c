This is prose that mentions atomic_load and memory_order_acquire.
It has no calls.
