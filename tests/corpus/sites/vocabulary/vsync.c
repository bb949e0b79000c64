#include <vsync/atomic.h>
vatomic32_t x; vatomicptr_t p;
void f(void) {
  vatomic32_read_acq(&x); //~ load acquire suffix order=_acq by=vsync
  vatomic32_read(&x); //~ load seq_cst implied
  vatomic32_write_rel(&x, 1); //~ store release suffix
  vatomicptr_xchg_rlx(&p, 0); //~ rmw relaxed
  vatomic32_get_add(&x, 1); //~ rmw seq_cst
  vatomic32_cmpxchg_acq(&x, 0, 1); //~ cas acquire/acquire
  vatomic32_inc_rlx(&x); //~ rmw relaxed
  vatomic_fence_rel(); //~ fence release
  vatomic_fence(); //~ fence seq_cst
}
