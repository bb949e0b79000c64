#include "xa_page.h"

#include "xa_atomic.h"

void xa_page_init(struct xa_page *page)
{
    page->free = NULL;
    page->used = 0;
    atomic_init(&page->thread_free, NULL);
    for (int i = XA_BLOCKS - 1; i >= 0; i--) {
        struct xa_block *block = (struct xa_block *)page->area[i];
        block->next = page->free;
        page->free = block;
    }
}

static void collect(struct xa_page *page)
{
    struct xa_block *head = xa_exchange_acquire(&page->thread_free, NULL);
    struct xa_block *last = head;
    int count = 1;

    if (!head)
        return;
    while (last->next) {
        last = last->next;
        count++;
    }
    last->next = page->free;
    page->free = head;
    page->used -= count;
}

void *xa_page_alloc(struct xa_page *page)
{
    struct xa_block *block;

    if (!page->free && xa_load_relaxed(&page->thread_free))
        collect(page);
    block = page->free;
    if (!block)
        return NULL;
    page->free = block->next;
    page->used++;
    return block;
}

void xa_page_free_local(struct xa_page *page, void *memory)
{
    struct xa_block *block = memory;

    block->next = page->free;
    page->free = block;
    page->used--;
}

void xa_page_free_remote(struct xa_page *page, void *memory)
{
    struct xa_block *block = memory;
    struct xa_block *head = xa_load_relaxed(&page->thread_free);

    do {
        block->next = head;
    } while (!xa_cas_weak_relaxed(&page->thread_free, &head, block));
}
