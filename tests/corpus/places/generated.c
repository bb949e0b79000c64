/* Store buffering through functions that macros define and call by names that are put
   together, and through macros that are blocks or other names. */
#include <pthread.h>
#include "cell.h"

static word_t x1, y1, x2, y2;
static uint32_t x3, y3, x4, y4;
static uint32_t seen[8];

static void *left(void *unused)
{
    word_put(&x1, 1, relaxed);
    seen[0] = word_get(&y1, relaxed); // place 1
    word_put_relaxed_u32_(&x2, 1);
    seen[1] = word_get_relaxed_u32_(&y2); // place 2
    BLOCK_PUT(&x3, 1);
    seen[2] = BLOCK_GET(&y3); // place 3
    BLOCK_PUT(&x4, 1);
    seen[3] = lib_get(&y4); // place 4
    return unused;
}

static void *right(void *unused)
{
    word_put(&y1, 1, relaxed);
    seen[4] = word_get(&x1, relaxed); // place 1
    word_put_relaxed_u32_(&y2, 1);
    seen[5] = word_get_relaxed_u32_(&x2); // place 2
    BLOCK_PUT(&y3, 1);
    seen[6] = BLOCK_GET(&x3); // place 3
    BLOCK_PUT(&y4, 1);
    seen[7] = lib_get(&x4); // place 4
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen[0] + seen[4] > 2;
}
