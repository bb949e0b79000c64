/* A page of blocks of one size. Its owner allocates and frees without atomics;
 * other threads put what they free on a list of its own, which the owner takes
 * over as a whole when it has run out of blocks. */
#ifndef XA_PAGE_H
#define XA_PAGE_H

#include <stddef.h>

#define XA_BLOCKS 4
#define XA_BLOCK_SIZE 32

struct xa_block {
    struct xa_block *next;
};

struct xa_page {
    struct xa_block *free;                 /* owner */
    int used;                              /* owner */
    _Atomic(struct xa_block *) thread_free; /* everybody else */
    _Alignas(16) unsigned char area[XA_BLOCKS][XA_BLOCK_SIZE];
};

void xa_page_init(struct xa_page *page);
void *xa_page_alloc(struct xa_page *page);
void xa_page_free_local(struct xa_page *page, void *memory);
void xa_page_free_remote(struct xa_page *page, void *memory);

#endif
