#include "logbuf.h"

#include <string.h>

void logbuf_init(struct logbuf *log)
{
    atomic_init(&log->reserved, 0);
    atomic_init(&log->lost, 0);
    log->written = 0;
    for (int i = 0; i < LOGBUF_ENTRIES; i++)
        atomic_init(&log->entry[i].state, LOGBUF_FREE);
}

int logbuf_append(struct logbuf *log, const char *text)
{
    uint32_t at = lb_add_relaxed(&log->reserved, 1);
    struct logbuf_entry *entry;

    if (at >= LOGBUF_ENTRIES) {
        lb_add_relaxed(&log->lost, 1);
        return 0;
    }
    entry = &log->entry[at];
    entry->length = (uint32_t)strnlen(text, LOGBUF_TEXT);
    for (uint32_t i = 0; i < entry->length; i++)
        entry->text[i] = text[i];
    lb_store_relaxed(&entry->state, LOGBUF_COMMITTED);
    return 1;
}

int logbuf_flush(struct logbuf *log, void (*write)(const char *text, size_t length, void *to),
                 void *to)
{
    int count = 0;

    while (log->written < LOGBUF_ENTRIES) {
        struct logbuf_entry *entry = &log->entry[log->written];
        if (lb_load_acquire(&entry->state) != LOGBUF_COMMITTED)
            break;
        write(entry->text, entry->length, to);
        log->written++;
        count++;
    }
    return count;
}
