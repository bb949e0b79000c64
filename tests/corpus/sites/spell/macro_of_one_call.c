#include <stdatomic.h>
#define GET(p) atomic_load(p) //~ load seq_cst implied body=GET
#define PUT(p, v) /* a comment */ \
  /* another \
   * one */ \
  atomic_store((p), /* the new value */ (v)) //~ store seq_cst body=PUT
atomic_int x;
int f(void) {
  PUT(&x, 1); //~ store seq_cst macro on=x in=f
  return GET(&x); //~ load seq_cst macro on=x in=f
}
