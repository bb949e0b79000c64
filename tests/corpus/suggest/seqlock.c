#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int left_half, right_half;

static void write_both(int value) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_store_explicit(&left_half, value, memory_order_relaxed);
    atomic_store_explicit(&right_half, value, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_relaxed);
}

static int read_both(int *l, int *r) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_relaxed);
    *l = atomic_load_explicit(&left_half, memory_order_relaxed);
    *r = atomic_load_explicit(&right_half, memory_order_relaxed);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    return before == after && before % 2 == 0;
}

static void *writer(void *p) {
    write_both(1);
    write_both(2);
    return p;
}

static void *reader(void *p) {
    int l, r;
    if (read_both(&l, &r) && l != r)
        *(int *)p = 1;
    return p;
}

int main(void) {
    pthread_t a, b;
    int torn = 0;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, &torn);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return torn;
}
