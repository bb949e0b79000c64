#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdatomic.h>
#include <stddef.h>

#define JOURNAL_ENTRIES 16

struct journal_entry {
    unsigned id;
    long amount;
};

/* One thread appends, any number follow. */
struct journal {
    struct journal_entry entries[JOURNAL_ENTRIES];
    atomic_size_t written;
};

int journal_append(struct journal *journal, unsigned id, long amount);

/* The entry behind those that a follower has seen; null if there is none yet. */
const struct journal_entry *journal_next(struct journal *journal, size_t seen);

#endif
