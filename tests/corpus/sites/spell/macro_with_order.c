#include <stdatomic.h>
#define GET(p, o) (atomic_load_explicit((p), (o))) //~ load ? not-literal body=GET
atomic_int flag;
int f(void) { return GET(&flag, memory_order_relaxed); } //~ load relaxed literal order=memory_order_relaxed on=flag
