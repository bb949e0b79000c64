#include <stdatomic.h>
#define MO_rlx memory_order_relaxed
#define MO_acq memory_order_acquire
#define LOAD(p, o) atomic_load_explicit(p, memory_order_##o) //~ load ? not-literal body=LOAD
#define STORE(p, v, o) __atomic_store_n(p, v, __ATOMIC_ ## o) //~ store ? not-literal body=STORE
#define SHORT(p, o) (atomic_load_explicit((p), MO_ ## o)) //~ load ? not-literal body=SHORT
#define PEEK(p, o) LOAD(p, o) //~ load ? pasted body=PEEK
#define CAS(p, e, v, s, f) atomic_compare_exchange_weak_explicit(p, e, v, memory_order_##s, memory_order_##f) //~ cas-weak ?/? not-literal body=CAS
atomic_int x, y;
int z;
int f(void) {
  int e = 0;
  STORE(&z, 1, RELEASE); //~ store release pasted order=RELEASE on=z in=f
  while (!LOAD(&x, acquire)) {} //~ load acquire pasted order=acquire on=x
  while (!CAS(&x, &e, 1, acq_rel, relaxed)) {} //~ cas-weak acq_rel/relaxed pasted cas-loop
  return SHORT(&y, rlx) + PEEK(&x, relaxed); //~ load relaxed pasted order=rlx on=y; load relaxed pasted order=relaxed on=x
}
