#include "mimalloc/atomic.h"
static _Atomic(size_t) n;
void f(mi_page_t* page, size_t e) {
  mi_atomic_load_relaxed(&n); //~ load relaxed suffix order=_relaxed by=mimalloc on=n
  mi_atomic_store_release(&n, 1); //~ store release suffix
  mi_atomic_add_acq_rel(&n, 1); //~ rmw acq_rel suffix order=_acq_rel
  mi_atomic_increment_relaxed(&n); //~ rmw relaxed
  mi_atomic_cas_weak_release(&n, &e, 2); //~ cas-weak release/relaxed
  mi_atomic_cas_strong_acq_rel(&n, &e, 2); //~ cas acq_rel/acquire
  mi_atomic_load_ptr_acquire(mi_block_t, &page->free); //~ load acquire on=page->free
  mi_atomic_store_ptr_release(mi_block_t, &page->free, 0); //~ store release on=page->free
}
