/* A count that is changed on the way to the value of a variable. */
#include <pthread.h>
#include <stdlib.h>

#define UNLIKELY(condition) __builtin_expect((condition), 0)

struct span {
    unsigned used, size;
};

static int fill(struct span *span)
{
    unsigned filled = ++span->size;
    return filled > 3;
}

static void *look(void *span)
{
    struct span *own = span;
    if (UNLIKELY(own->used == own->size))
        return span;
    return 0;
}

int main(void)
{
    struct span *shared = calloc(1, sizeof *shared);
    pthread_t other;
    pthread_create(&other, 0, look, shared);
    int full = fill(shared);
    pthread_join(other, 0);
    free(shared);
    return full;
}
