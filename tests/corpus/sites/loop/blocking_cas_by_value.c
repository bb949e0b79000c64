int l;
void f(void) { while (!__sync_bool_compare_and_swap(&l, 0, 1)) ; } //~ cas seq_cst/seq_cst blocking(==0)
void g(void) { while (__sync_val_compare_and_swap(&l, 0, 1) != 0) ; } //~ cas seq_cst/seq_cst blocking(==0)
void h(void) { while (__sync_val_compare_and_swap(&l, 0, 1)) ; } //~ cas seq_cst/seq_cst blocking(==0)
