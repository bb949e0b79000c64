/* Store buffering through helpers of words that are in structures, which are named and
   defined in several places, and through helpers that have another name where they are
   called. */
#include <pthread.h>
#include "cell.h"

struct late_s {
    uint32_t word;
};

static at_t x1, y1, x3, y3;
static late_t x2, y2;
static uint32_t seen[6];

static inline uint32_t at_get(const at_t *at)
{
    return __atomic_load_n(&at->v, __ATOMIC_RELAXED); // via 1
}

static inline void at_put(at_t *at, uint32_t v)
{
    __atomic_store_n(&at->v, v, __ATOMIC_RELAXED);
}

static inline uint32_t late_get(const late_t *late)
{
    return __atomic_load_n(&late->word, __ATOMIC_RELAXED); // via 2
}

static inline void late_put(late_t *late, uint32_t v)
{
    __atomic_store_n(&late->word, v, __ATOMIC_RELAXED);
}

#define lib_get _lib_get
static inline uint32_t lib_get(const at_t *at)
{
    return __atomic_load_n(&at->v, __ATOMIC_RELAXED); // via 3
}

static void *left(void *unused)
{
    at_put(&x1, 1);
    seen[0] = at_get(&y1); // place 1
    late_put(&x2, 1);
    seen[1] = late_get(&y2); // place 2
    at_put(&x3, 1);
    seen[2] = 1 + lib_get(&y3); // place 3
    return unused;
}

static void *right(void *unused)
{
    at_put(&y1, 1);
    seen[3] = at_get(&x1); // place 1
    late_put(&y2, 1);
    seen[4] = late_get(&x2); // place 2
    at_put(&y3, 1);
    seen[5] = 1 + lib_get(&x3); // place 3
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen[0] + seen[3] > 2;
}
