int x;
void f(void) {
  __sync_fetch_and_add(&x, 1); //~ rmw seq_cst implied on=x
  __sync_add_and_fetch(&x, 1); //~ rmw seq_cst
  __sync_bool_compare_and_swap(&x, 0, 1); //~ cas seq_cst/seq_cst
  __sync_val_compare_and_swap(&x, 0, 1); //~ cas seq_cst/seq_cst
  __sync_lock_test_and_set(&x, 1); //~ rmw acquire
  __sync_lock_release(&x); //~ store release
  __sync_synchronize(); //~ fence seq_cst
}
