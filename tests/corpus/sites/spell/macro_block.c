#include <stdint.h>
#define GET(p) __extension__ ({ __typeof__(*(p)) v_ = __atomic_load_n((p), __ATOMIC_ACQUIRE); v_; }) //~ load acquire literal body=GET
#define TAKE(p) ({ __typeof__(&*(p)) p_ = (p); __typeof__(*p_) v_; __atomic_load(p_, &v_, __ATOMIC_RELAXED); v_; }) //~ load relaxed literal body=TAKE
#define PUT(x, v) ({ __typeof__(x) v_ = (v); __atomic_store_n(&(x), v_, __ATOMIC_RELEASE); }) //~ store release literal body=PUT
#define HELD(p, o) ({ int v_; __asm__ volatile("" ::: "memory"); v_ = __atomic_load_n((p), o); v_; }) //~ load ? not-literal body=HELD
#define CAS(p, o, n) ({ __typeof__(*(p)) o_ = (o); __atomic_compare_exchange_n((p), &o_, (n), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); o_; }) //~ cas acq_rel/acquire literal body=CAS
#define SUM(p) ({ int v_ = __atomic_load_n((p), __ATOMIC_RELAXED); v_ + 1; }) //~ load relaxed literal body=SUM
#define LOGGED(p) ({ log_it(p); __atomic_load_n((p), __ATOMIC_RELAXED); }) //~ load relaxed literal body=LOGGED
int x, y;
int f(void) {
  int a = GET(&x); //~ load acquire macro on=x in=f
  PUT(y, 1); //~ store release macro on=y
  a += TAKE(&x); //~ load relaxed macro on=x
  a += HELD(&y, __ATOMIC_ACQUIRE); //~ load acquire literal on=y
  a += CAS(&x, 0, 1); //~ cas acq_rel/acquire macro on=x
  return a + SUM(&x) + LOGGED(&x);
}
