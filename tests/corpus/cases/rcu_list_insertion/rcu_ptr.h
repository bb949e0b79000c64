/* Publishing and reading pointers to objects that are only replaced, never
 * changed, while readers may see them. */
#ifndef RCU_PTR_H
#define RCU_PTR_H

#define RCU_ASSIGN(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELAXED)
#define RCU_DEREFERENCE(p) __atomic_load_n(&(p), __ATOMIC_CONSUME)

/* Where nobody else can see the pointer yet, or nobody else writes it. */
#define RCU_INIT(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELAXED)
#define RCU_ACCESS(p) __atomic_load_n(&(p), __ATOMIC_RELAXED)

#endif
