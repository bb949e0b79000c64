/* Helpers that hold the compiler back beside their operation, under other names. */
#include <pthread.h>
#include <stdatomic.h>

static int x1, y1, x2, y2;
static int seen[4];

#define UNUSED_INLINE __attribute__((unused)) inline

UNUSED_INLINE static void
hold(void)
{

    __asm__ __volatile__("" ::: "memory");
    return;
}

UNUSED_INLINE static int
md_load_int(const int *p)
{
    int r;

    hold();
    r = __atomic_load_n(p, __ATOMIC_RELAXED); // via 1
    hold();
    return r;
}

#define LOAD_SAFE(p, type) md_load_##type((p))
#define pr_load_int(p) LOAD_SAFE((p), int)

static inline int signal_load(const int *p)
{
    atomic_signal_fence(memory_order_seq_cst);
    return __atomic_load_n(p, __ATOMIC_RELAXED); // via 2
}

static inline void set(int *p)
{
    __asm__ __volatile__("" ::: "memory");
    __atomic_store_n(p, 1, __ATOMIC_RELAXED);
}

static void *left(void *unused)
{
    set(&x1);
    seen[0] = pr_load_int(&y1); // place 1
    set(&x2);
    seen[1] = signal_load(&y2); // place 2
    return unused;
}

static void *right(void *unused)
{
    set(&y1);
    seen[2] = pr_load_int(&x1); // place 1
    set(&y2);
    seen[3] = signal_load(&x2); // place 2
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen[0] + seen[2] > 2;
}
