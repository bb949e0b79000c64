#include <stdatomic.h>
#define ATOMIC(op, p, ...) atomic_##op##_explicit(p, __VA_ARGS__)
#define CALL(op, ...) atomic_##op(__VA_ARGS__)
#define ANY(...) atomic_fetch_add_explicit(__VA_ARGS__)
#define LOG(text, ...) printf("%d" text, ##__VA_ARGS__)
atomic_int x;
int f(int v) {
  ATOMIC(store, &x, 1, memory_order_release); //~ store release literal order=memory_order_release on=x in=f
  LOG("text", v);
  CALL(store, &x, v); //~ store seq_cst macro on=x
  ANY(&x, 2, memory_order_relaxed); //~ rmw relaxed literal on=x
  return ATOMIC(load, &x, memory_order_acquire) //~ load acquire literal on=x
    + CALL(load, &x); //~ load seq_cst macro on=x
}
