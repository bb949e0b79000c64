#include <stdatomic.h>
#define READ_ONCE(var) atomic_load_explicit((_Atomic __typeof__(var) *)&(var), memory_order_relaxed) //~ load relaxed literal body=READ_ONCE
#define PUBLISH(p, v) atomic_store_explicit((_Atomic __typeof__(*(p)) *)(p), (v), memory_order_release) //~ store release literal body=PUBLISH
struct s { int x; };
int f(struct s *s) {
  __typeof__(s->x) *p = &s->x;
  PUBLISH(&s->x, 1); //~ store release macro on=s->x in=f
  PUBLISH(p, 1); //~ store release macro on=p
  return READ_ONCE(s->x); //~ load relaxed macro on=s->x
}
