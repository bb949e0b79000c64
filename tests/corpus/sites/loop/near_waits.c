#include <stdatomic.h>
#define NEXT (n++)
static atomic_int x, y, a[4];
static atomic_uchar c;
static int n, g;
static char get(void) { return atomic_load(&x); } //~ load seq_cst in=get
void f2(void) { while (!get()) ; }
void f3(void) { int i = 0; while (atomic_load(&a[i])) i++; } //~ load seq_cst
void f4(void) { while (atomic_load(&x) != NEXT) ; } //~ load seq_cst on=x
int f5(void) { int k = 0; while (!atomic_load(&x)) k++; return k; } //~ load seq_cst on=x
int f7(void) { int v = 0, last = 0; while ((v = atomic_load(&x)) == 0) last = v; return last; } //~ load seq_cst on=x
int f8(void) { char v; while ((v = atomic_load(&x)) == 0) ; return v; } //~ load seq_cst on=x
int f9(void) { int v = 0; for (;;) { if (v == 1) break; v = atomic_load(&x); } return v; } //~ load seq_cst on=x
int f10(void) { int v = 0, w = 0; for (;;) { v = atomic_load(&x); if (v == 2 && w == 1) break; w = v; } return v; } //~ load seq_cst on=x
void f11(void) { while (atomic_load(&c) < 100) ; } //~ load seq_cst spin(>=100)
void f12(void) { while (atomic_load(&x) < 5u) ; } //~ load seq_cst spin(>=5)
void f13(void) { while (atomic_load(&x) + 1 < 10) ; } //~ load seq_cst
void f15(int *p) { while ((*p = atomic_load(&x)) == 0) ; } //~ load seq_cst on=x
void f16(void) { while ((g = atomic_load(&x)) == 0) ; } //~ load seq_cst on=x
int f17(void) { int k = 0; for (int j = 0; j < 2; j++) { g += k; while (!atomic_load(&x)) k++; } return 0; } //~ load seq_cst on=x
void f18(void) { while (atomic_load(&x) ? 0 : 1) ; } //~ load seq_cst on=x
void f19(void) { while (atomic_load(&x), !atomic_load(&y)) ; } //~ load seq_cst on=x; load seq_cst on=y
int f20(void) { static int k; while (!atomic_load(&x)) k++; return 0; } //~ load seq_cst on=x
void f23(void) { double d = 3; while (atomic_load(&x) != d) ; } //~ load seq_cst on=x
void f25(void) { while (!atomic_load(&x)) { if (atomic_load(&y)) g = 1; } } //~ load seq_cst on=x; load seq_cst on=y
void f26(void) { while (atomic_fetch_add(&x, 1) != 5) ; } //~ rmw seq_cst on=x
