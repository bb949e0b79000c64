#include <stdatomic.h>
_Atomic(int) x;
static _Atomic(struct node *) head;
int f(void) { return x; } //~ load seq_cst on=x by=c11
void g(struct node *n) { head = n; } //~ store seq_cst on=head
