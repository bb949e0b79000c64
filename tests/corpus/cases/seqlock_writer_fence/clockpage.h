/* The page with the clock's parameters that the timekeeper updates on every tick
 * and everybody else reads. */
#ifndef CLOCKPAGE_H
#define CLOCKPAGE_H

#include "barrier.h"

#include <stdint.h>

struct clockpage {
    atomic_uint sequence;
    _Atomic uint64_t base_ns;
    _Atomic uint64_t cycles;
};

struct clock_reading {
    uint64_t base_ns;
    uint64_t cycles;
};

void clockpage_init(struct clockpage *page);
void clockpage_update(struct clockpage *page, uint64_t base_ns, uint64_t cycles);

/* 0 if the page was being updated. */
int clockpage_try_read(struct clockpage *page, struct clock_reading *reading);

#endif
