#pragma once
#include <stdatomic.h>

struct box {
    int data;
    atomic_int full;
};

static inline void box_put(struct box *box, int data)
{
    box->data = data;
    atomic_store_explicit(&box->full, 1, memory_order_relaxed);
}

static inline int box_take(struct box *box)
{
    while (!atomic_load_explicit(&box->full, memory_order_acquire)) {
    }
    return box->data;
}
