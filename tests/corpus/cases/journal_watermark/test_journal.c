#include "journal.h"

#include <pthread.h>
#include <stdio.h>

static struct journal journal;
static int wrong;

static void *follow(void *unused)
{
    size_t seen = 0;
    long sum = 0;

    while (seen < 4) {
        const struct journal_entry *entry = journal_next(&journal, seen);

        if (!entry)
            continue;
        sum += entry->amount * (long)entry->id;
        seen++;
    }
    if (sum != 1 + 4 + 9 + 16) {
        puts("an entry was not complete");
        wrong = 1;
    }
    return unused;
}

int main(void)
{
    pthread_t follower;

    pthread_create(&follower, NULL, follow, NULL);
    for (unsigned i = 1; i <= 4; i++)
        journal_append(&journal, i, i);
    pthread_join(follower, NULL);
    return wrong;
}
