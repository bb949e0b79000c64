#include "journal.h"

#include "jl_atomic.h"

int journal_append(struct journal *journal, unsigned id, long amount)
{
    size_t at = JL_READ(journal->written, relaxed);

    if (at == JOURNAL_ENTRIES)
        return 0;
    journal->entries[at].id = id;
    journal->entries[at].amount = amount;
    JL_WRITE(journal->written, at + 1, relaxed);
    return 1;
}

const struct journal_entry *journal_next(struct journal *journal, size_t seen)
{
    if (seen >= JL_READ(journal->written, acquire))
        return NULL;
    return &journal->entries[seen];
}
