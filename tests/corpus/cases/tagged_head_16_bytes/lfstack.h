/* A lock-free stack of fixed-size blocks. The head is a pointer with a counter
 * beside it, changed by one compare-exchange of both: a block that comes back
 * between a look and a change does not go unnoticed. Blocks are never given back
 * to the system while the stack lives. */
#ifndef LFSTACK_H
#define LFSTACK_H

#include <stdint.h>

struct lfblock {
    struct lfblock *next;
    uint64_t payload[2];
};

struct lfhead {
    struct lfblock *block;
    uint64_t changes;
} __attribute__((aligned(16)));

struct lfstack {
    struct lfhead head;
};

void lfstack_init(struct lfstack *stack);
void lfstack_push(struct lfstack *stack, struct lfblock *block);
struct lfblock *lfstack_pop(struct lfstack *stack);

#endif
