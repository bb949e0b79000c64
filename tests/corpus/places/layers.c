#include <pthread.h>
#include <stdatomic.h>

/* Store buffering five times: by a helper with an order, by one of a structure,
   through two layers, by a macro, and by a helper that is more than one operation. */

typedef struct {
    atomic_int value;
} cell;

static atomic_int x1, y1, x3, y3, x4, y4, x5, y5;
static cell x2, y2;
static int seen[10];

static inline int get(atomic_int *p, memory_order order)
{
    return atomic_load_explicit(p, order); // via 1
}

static inline void put(atomic_int *p, int v, memory_order order)
{
    atomic_store_explicit(p, v, order);
}

static inline int cell_get(const cell *c)
{
    int v = atomic_load_explicit(&c->value, memory_order_relaxed); // via 2
    return v;
}

static inline int inner_get(atomic_int *p)
{
    return atomic_load_explicit(p, memory_order_relaxed); // via 3
}

static inline int outer_get(atomic_int *p)
{
    return inner_get(p); // via 3
}

#define FLAG_GET(p) atomic_load_explicit((p), memory_order_relaxed)

static int exchange(atomic_int *mine, atomic_int *other)
{
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    return atomic_load_explicit(other, memory_order_relaxed); // place 5
}

static void *left(void *unused)
{
    put(&x1, 1, memory_order_relaxed);
    seen[0] = get(&y1, memory_order_relaxed); // place 1
    put(&x2.value, 1, memory_order_relaxed);
    seen[1] = cell_get(&y2); // place 2
    put(&x3, 1, memory_order_relaxed);
    seen[2] = outer_get(&y3); // place 3
    put(&x4, 1, memory_order_relaxed);
    seen[3] = FLAG_GET(&y4); // place 4
    seen[4] = exchange(&x5, &y5);
    return unused;
}

static void *right(void *unused)
{
    put(&y1, 1, memory_order_relaxed);
    seen[5] = get(&x1, memory_order_relaxed); // place 1
    put(&y2.value, 1, memory_order_relaxed);
    seen[6] = cell_get(&x2); // place 2
    put(&y3, 1, memory_order_relaxed);
    seen[7] = outer_get(&x3); // place 3
    put(&y4, 1, memory_order_relaxed);
    seen[8] = FLAG_GET(&x4); // place 4
    seen[9] = exchange(&y5, &x5);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen[0] + seen[5] > 2;
}
