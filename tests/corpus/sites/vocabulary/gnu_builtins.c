int x; _Bool b;
void f(int *p, int e, int d) {
  __atomic_load_n(p, __ATOMIC_ACQUIRE); //~ load acquire literal by=gnu on=p
  __atomic_load(p, &e, __ATOMIC_RELAXED); //~ load relaxed
  __atomic_store_n(&x, 1, __ATOMIC_RELEASE); //~ store release on=x
  __atomic_exchange_n(&x, 1, __ATOMIC_ACQ_REL); //~ rmw acq_rel
  __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST); //~ rmw seq_cst
  __atomic_add_fetch(&x, 1, __ATOMIC_RELAXED); //~ rmw relaxed
  __atomic_compare_exchange_n(&x, &e, d, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); //~ cas acq_rel/acquire
  __atomic_compare_exchange_n(&x, &e, d, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED); //~ cas-weak release/relaxed
  __atomic_test_and_set(&b, __ATOMIC_ACQUIRE); //~ rmw acquire
  __atomic_clear(&b, __ATOMIC_RELEASE); //~ store release
  __atomic_thread_fence(__ATOMIC_SEQ_CST); //~ fence seq_cst
  __atomic_signal_fence(__ATOMIC_ACQUIRE); //~ signal-fence acquire
}
