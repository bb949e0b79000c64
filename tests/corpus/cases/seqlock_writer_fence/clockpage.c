#include "clockpage.h"

void clockpage_init(struct clockpage *page)
{
    atomic_init(&page->sequence, 0);
    atomic_init(&page->base_ns, 0);
    atomic_init(&page->cycles, 0);
}

static void write_begin(struct clockpage *page)
{
    WRITE_ONCE(page->sequence, READ_ONCE(page->sequence) + 1);
}

static void write_end(struct clockpage *page)
{
    smp_store_release(&page->sequence, READ_ONCE(page->sequence) + 1);
}

static unsigned read_begin(struct clockpage *page)
{
    return smp_load_acquire(&page->sequence);
}

static int read_retry(struct clockpage *page, unsigned start)
{
    smp_rmb();
    return READ_ONCE(page->sequence) != start;
}

void clockpage_update(struct clockpage *page, uint64_t base_ns, uint64_t cycles)
{
    write_begin(page);
    WRITE_ONCE(page->base_ns, base_ns);
    WRITE_ONCE(page->cycles, cycles);
    write_end(page);
}

int clockpage_try_read(struct clockpage *page, struct clock_reading *reading)
{
    unsigned start = read_begin(page);

    if (start & 1)
        return 0;
    reading->base_ns = READ_ONCE(page->base_ns);
    reading->cycles = READ_ONCE(page->cycles);
    return !read_retry(page, start);
}
