/* A log in memory that any thread appends to without waiting. An entry is
 * reserved, filled and then committed; the writer to disk stops at the first
 * entry that is not committed yet. */
#ifndef LOGBUF_H
#define LOGBUF_H

#include "lb_atomic.h"

#include <stddef.h>

#define LOGBUF_ENTRIES 16
#define LOGBUF_TEXT 12

enum { LOGBUF_FREE, LOGBUF_COMMITTED };

struct logbuf_entry {
    lb_u32 state;
    uint32_t length;
    char text[LOGBUF_TEXT];
};

struct logbuf {
    lb_u32 reserved;
    uint32_t written; /* by the writer to disk */
    lb_u32 lost;
    struct logbuf_entry entry[LOGBUF_ENTRIES];
};

void logbuf_init(struct logbuf *log);
int logbuf_append(struct logbuf *log, const char *text);

/* Hands each committed entry to a function, in order. Returns how many. */
int logbuf_flush(struct logbuf *log, void (*write)(const char *text, size_t length, void *to),
                 void *to);

#endif
