/* Two threads log, a third one flushes: every line arrives whole. */
#include "logbuf.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define LINES 3

static struct logbuf log_buffer;

static void *say(void *line)
{
    for (int i = 0; i < LINES; i++)
        logbuf_append(&log_buffer, line);
    return NULL;
}

static void check(const char *text, size_t length, void *wrong)
{
    if (!(length == 5 && memcmp(text, "hello", 5) == 0) &&
        !(length == 4 && memcmp(text, "ciao", 4) == 0))
        ++*(int *)wrong;
}

static void *flush(void *wrong)
{
    int lines = 0;

    while (lines < 2 * LINES) {
        int more = logbuf_flush(&log_buffer, check, wrong);
        lines += more;
        if (!more)
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int wrong = 0;

    logbuf_init(&log_buffer);
    pthread_create(&threads[0], NULL, say, "hello");
    pthread_create(&threads[1], NULL, say, "ciao");
    pthread_create(&threads[2], NULL, flush, &wrong);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (wrong)
        printf("%d wrong lines\n", wrong);
    return wrong != 0;
}
