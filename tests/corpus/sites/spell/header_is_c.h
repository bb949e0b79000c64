#ifndef H
#define H
#include <stdatomic.h>
#ifdef __cplusplus
extern "C" {
#endif
struct s { _Atomic int class; };
static inline int get(struct s *p) { return atomic_load(&p->class); } //~ load seq_cst on=p->class in=get
#ifdef __cplusplus
}
#endif
#endif
