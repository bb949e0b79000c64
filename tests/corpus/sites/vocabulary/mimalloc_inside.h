#define mi_atomic(name) atomic_##name
#define mi_memory_order(name) memory_order_##name
static inline int get(_Atomic(int)* p) {
  return mi_atomic(load_explicit)(p, mi_memory_order(acquire)); //~ load acquire literal in=get
}
