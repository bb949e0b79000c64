#include <stdatomic.h>
atomic_int x;
void relax(void) { __asm__ volatile("pause" ::: "memory"); } //~ !note:inline-assembly
__attribute__((no_sanitize("thread"))) int peek(void) { return atomic_load(&x); } //~ load seq_cst in=peek; !note:no-sanitize
