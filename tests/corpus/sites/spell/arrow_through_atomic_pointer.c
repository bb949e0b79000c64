#include <stdatomic.h>
struct node { struct node *next; int v; };
_Atomic(struct node *) head;
int f(void) { return head->v; } //~ load seq_cst on=head
