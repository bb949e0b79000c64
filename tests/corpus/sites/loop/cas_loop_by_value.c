int x;
void f(void) {
  int old;
  do { old = x; } while (!__sync_bool_compare_and_swap(&x, old, old + 1)); //~ cas seq_cst/seq_cst cas-loop
}
