/* Atomics of the library, for compilers with and without <stdatomic.h>. */
#ifndef LIB_ATOMIC_H
#define LIB_ATOMIC_H

#define LIB_GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define LIB_GET_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define LIB_SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define LIB_SET_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)

#endif
