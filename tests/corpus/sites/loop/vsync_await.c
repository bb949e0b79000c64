void f(vatomic32_t *x) { vatomic32_await_eq_acq(x, 1); } //~ load acquire suffix spin(==1) by=vsync
void g(vatomic32_t *x) { vatomic32_await_neq(x, 0); } //~ load seq_cst spin(!=0)
