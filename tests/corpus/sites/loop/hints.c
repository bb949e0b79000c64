#include <stdatomic.h>
#define likely(x) __builtin_expect(!!(x), 1)
atomic_int x;
void f(void) { while (__builtin_expect(atomic_load(&x) == 0, 0)) ; } //~ load seq_cst spin(!=0)
void g(void) { while (likely(!atomic_load(&x))) ; } //~ load seq_cst spin(!=0)
