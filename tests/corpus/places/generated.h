#pragma once
#include <stdint.h>

typedef struct {
    uint32_t v;
} word_t;

/* Functions that a macro defines, whose names it puts together. */
#define DEFINE_WORD(order, ORDER)                                                  \
    static inline uint32_t word_get_##order##_u32_(const word_t *word)             \
    {                                                                              \
        return __atomic_load_n(&word->v, ORDER);                                   \
    }                                                                              \
    static inline void word_put_##order##_u32_(word_t *word, uint32_t v)           \
    {                                                                              \
        __atomic_store_n(&word->v, v, ORDER);                                      \
    }

DEFINE_WORD(relaxed, __ATOMIC_RELAXED)
DEFINE_WORD(seq_cst, __ATOMIC_SEQ_CST)

/* Names that are put together where they are called. */
#define word_get(word, order) word_get_##order##_u32_(word)
#define word_put(word, v, order) word_put_##order##_u32_(word, v)

/* Macros that do one operation in a block of their own. */
#define BLOCK_GET(p)                                                               \
    __extension__({                                                                \
        __typeof__(&*(p)) p_ = (p);                                                \
        uint32_t v_ = __atomic_load_n(p_, __ATOMIC_RELAXED);                       \
        v_;                                                                        \
    })
#define BLOCK_PUT(p, v)                                                            \
    ({                                                                             \
        __typeof__(*(p)) v_ = (v);                                                 \
        __atomic_store_n((p), v_, __ATOMIC_RELAXED);                               \
    })

/* One that has another name. */
#define _lib_get(p) __atomic_load_n((const __typeof__(*(p)) *)(p), __ATOMIC_RELAXED)
#define lib_get _lib_get
