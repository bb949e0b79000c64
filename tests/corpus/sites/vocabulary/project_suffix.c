void f(foo_t *p) {
  foo_read_acq(p); //~ load acquire suffix order=_acq by=foo on=p
  foo_read(p); //~ load seq_cst implied
  foo_write_rel(p, 1); //~ store release
  foo_fetch_add_rlx(p, 1); //~ rmw relaxed order=_rlx
  foo_cas_acq(p, 0, 1); //~ cas acquire/acquire
  foo_fence(); //~ fence seq_cst
  foo_other(p);
}
