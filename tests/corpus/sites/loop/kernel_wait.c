extern int flag;
void cpu_relax(void);
void f(void) { while (!READ_ONCE(flag)) cpu_relax(); } //~ load relaxed by=linux
void g(void) { while (cmpxchg(&flag, 0, 1) != 0) cpu_relax(); } //~ cas seq_cst/seq_cst cas-loop
