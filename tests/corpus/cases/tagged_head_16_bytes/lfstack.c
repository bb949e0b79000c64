#include "lfstack.h"

#include <stdbool.h>
#include <stddef.h>

/* The compilers' generic builtins take structures of 16 bytes; -mcx16 and
 * libatomic make one instruction of them. */
static inline struct lfhead head_read(struct lfstack *stack, int order)
{
    struct lfhead head;

    __atomic_load(&stack->head, &head, order);
    return head;
}

static inline bool head_swap(struct lfstack *stack, struct lfhead *from, struct lfhead to,
                             int order)
{
    return __atomic_compare_exchange(&stack->head, from, &to, false, order, __ATOMIC_ACQUIRE);
}

void lfstack_init(struct lfstack *stack)
{
    stack->head.block = NULL;
    stack->head.changes = 0;
}

void lfstack_push(struct lfstack *stack, struct lfblock *block)
{
    struct lfhead head = head_read(stack, __ATOMIC_RELAXED);
    struct lfhead changed;

    do {
        __atomic_store_n(&block->next, head.block, __ATOMIC_RELAXED);
        changed.block = block;
        changed.changes = head.changes + 1;
    } while (!head_swap(stack, &head, changed, __ATOMIC_ACQUIRE));
}

struct lfblock *lfstack_pop(struct lfstack *stack)
{
    struct lfhead head = head_read(stack, __ATOMIC_ACQUIRE);
    struct lfhead changed;

    do {
        if (!head.block)
            return NULL;
        /* The block may be gone already; then the counter has changed, too. */
        changed.block = __atomic_load_n(&head.block->next, __ATOMIC_RELAXED);
        changed.changes = head.changes + 1;
    } while (!head_swap(stack, &head, changed, __ATOMIC_ACQUIRE));
    return head.block;
}
