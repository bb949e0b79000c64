#include <stdatomic.h>
struct queue { atomic_size_t head, tail; size_t size; };
size_t f(struct queue *q) {
  q->size++;
  q->head++; //~ rmw seq_cst on=q->head
  return q->tail - q->head; //~ load seq_cst on=q->tail; load seq_cst on=q->head
}
