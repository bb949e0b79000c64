/* Stands before gcc's <stdatomic.h>, which makes atomic_init a relaxed store. It
   is no atomic access (C11 7.17.2.1): who reads the object without being ordered
   after its initialisation races with it, and must be told so. */

#include_next <stdatomic.h>

#if !defined __cplusplus && !defined __clang__ && defined atomic_init
#undef atomic_init
#define atomic_init(PTR, VAL)                                                  \
  __extension__({                                                              \
    __auto_type wmfix_init_pointer = (PTR);                                    \
    typedef __typeof__((void)0, *wmfix_init_pointer) wmfix_init_type;          \
    *(wmfix_init_type *)(__UINTPTR_TYPE__)wmfix_init_pointer = (VAL);          \
    (void)0;                                                                   \
  })
#endif
