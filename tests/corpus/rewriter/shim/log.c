/* Stands in for the thread sanitizer's runtime: every atomic operation and fence
 * of a program that was compiled with -fsanitize=thread is done, and written
 * down as one line on standard output. Objects that have a name are named. */
#include <stdint.h>
#include <stdio.h>

#define NAMES 8

static struct {
    const volatile void *object;
    const char *name;
} names[NAMES];
static int used;

void shim_begin(const char *program)
{
    used = 0;
    printf("@begin %s\n", program);
}

void shim_name(const volatile void *object, const char *name)
{
    if (used < NAMES) {
        names[used].object = object;
        names[used].name = name;
        used++;
    }
}

static void note(const char *kind, const volatile void *object)
{
    const char *name = "?";
    for (int i = 0; i < used; i++) {
        if (names[i].object == object) {
            name = names[i].name;
        }
    }
    printf("@%s %s\n", kind, name);
}

void __tsan_atomic_thread_fence(int order)
{
    printf("@fence %d\n", order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

#define RMW(bits, name, builtin)                                                       \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *object,        \
                                                uint##bits##_t value, int order)        \
    {                                                                                  \
        (void)order;                                                                   \
        note("rmw", object);                                                           \
        return builtin(object, value, __ATOMIC_SEQ_CST);                               \
    }

#define COMPARE(bits, name)                                                            \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *object,                   \
                                     uint##bits##_t *expected, uint##bits##_t value,    \
                                     int order, int failure)                           \
    {                                                                                  \
        (void)order;                                                                   \
        (void)failure;                                                                 \
        note("compare-exchange", object);                                              \
        return __atomic_compare_exchange_n(object, expected, value, 0,                 \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }

#define WIDTH(bits)                                                                    \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *object,    \
                                              int order)                               \
    {                                                                                  \
        (void)order;                                                                   \
        note("load", object);                                                          \
        return __atomic_load_n(object, __ATOMIC_SEQ_CST);                              \
    }                                                                                  \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *object,                   \
                                     uint##bits##_t value, int order)                  \
    {                                                                                  \
        (void)order;                                                                   \
        note("store", object);                                                         \
        __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                             \
    }                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                          \
        volatile uint##bits##_t *object, uint##bits##_t expected, uint##bits##_t value, \
        int order, int failure)                                                        \
    {                                                                                  \
        (void)order;                                                                   \
        (void)failure;                                                                 \
        note("compare-exchange", object);                                              \
        __atomic_compare_exchange_n(object, &expected, value, 0, __ATOMIC_SEQ_CST,     \
                                    __ATOMIC_SEQ_CST);                                 \
        return expected;                                                               \
    }                                                                                  \
    COMPARE(bits, compare_exchange_strong)                                             \
    COMPARE(bits, compare_exchange_weak)                                               \
    RMW(bits, exchange, __atomic_exchange_n)                                           \
    RMW(bits, fetch_add, __atomic_fetch_add)                                           \
    RMW(bits, fetch_sub, __atomic_fetch_sub)                                           \
    RMW(bits, fetch_and, __atomic_fetch_and)                                           \
    RMW(bits, fetch_or, __atomic_fetch_or)                                             \
    RMW(bits, fetch_xor, __atomic_fetch_xor)

WIDTH(8)
WIDTH(16)
WIDTH(32)
WIDTH(64)

/* Plain accesses and calls are of no interest here. */
#define ACCESS(name)                                                                   \
    void __tsan_##name(void *object)                                                   \
    {                                                                                  \
        (void)object;                                                                  \
    }
#define ACCESSES(kind)                                                                 \
    ACCESS(kind##1)                                                                    \
    ACCESS(kind##2)                                                                    \
    ACCESS(kind##4)                                                                    \
    ACCESS(kind##8)                                                                    \
    ACCESS(kind##16)                                                                   \
    ACCESS(unaligned_##kind##2)                                                        \
    ACCESS(unaligned_##kind##4)                                                        \
    ACCESS(unaligned_##kind##8)                                                        \
    ACCESS(unaligned_##kind##16)

ACCESSES(read)
ACCESSES(write)
ACCESS(func_entry)
ACCESS(vptr_read)

void __tsan_init(void) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **object, void *value)
{
    (void)object;
    (void)value;
}
void __tsan_read_range(void *object, unsigned long size)
{
    (void)object;
    (void)size;
}
void __tsan_write_range(void *object, unsigned long size)
{
    (void)object;
    (void)size;
}
