// Every atomic operation in every size, against what it must give.
#include <assert.h>
#include <stdio.h>

#define CHECK(TYPE)                                                                       \
  do {                                                                                    \
    static _Alignas(16) TYPE object, expected;                                            \
    const TYPE top = (TYPE)~(TYPE)0;                                                      \
    __atomic_store_n(&object, top, __ATOMIC_RELEASE);                                     \
    assert(__atomic_load_n(&object, __ATOMIC_ACQUIRE) == top);                            \
    assert(__atomic_exchange_n(&object, (TYPE)5, __ATOMIC_ACQ_REL) == top);               \
    assert(__atomic_fetch_add(&object, (TYPE)3, __ATOMIC_RELAXED) == (TYPE)5);            \
    assert(__atomic_fetch_sub(&object, (TYPE)1, __ATOMIC_SEQ_CST) == (TYPE)8);            \
    assert(__atomic_fetch_and(&object, (TYPE)6, __ATOMIC_RELAXED) == (TYPE)7);            \
    assert(__atomic_fetch_or(&object, (TYPE)9, __ATOMIC_RELAXED) == (TYPE)6);             \
    assert(__atomic_fetch_xor(&object, (TYPE)1, __ATOMIC_RELAXED) == (TYPE)15);           \
    assert(__atomic_fetch_nand(&object, (TYPE)2, __ATOMIC_RELAXED) == (TYPE)14);          \
    assert(__atomic_load_n(&object, __ATOMIC_RELAXED) == (TYPE)~(TYPE)2);                 \
    expected = 1;                                                                         \
    assert(!__atomic_compare_exchange_n(&object, &expected, (TYPE)9, 0, __ATOMIC_ACQ_REL, \
                                        __ATOMIC_ACQUIRE));                               \
    assert(expected == (TYPE)~(TYPE)2);                                                   \
    assert(__atomic_compare_exchange_n(&object, &expected, (TYPE)9, 1, __ATOMIC_SEQ_CST,  \
                                       __ATOMIC_RELAXED));                                \
    assert(__sync_val_compare_and_swap(&object, (TYPE)9, top) == (TYPE)9);                \
    assert(__sync_val_compare_and_swap(&object, (TYPE)9, (TYPE)1) == top);                \
    assert(__sync_bool_compare_and_swap(&object, top, (TYPE)1));                          \
    assert(__sync_fetch_and_add(&object, (TYPE)1) == (TYPE)1);                            \
    __sync_synchronize();                                                                 \
    assert(object == (TYPE)2);                                                            \
  } while (0)

int main(void) {
  CHECK(unsigned char);
  CHECK(unsigned short);
  CHECK(unsigned);
  CHECK(unsigned long);
#ifdef WIDE
  CHECK(unsigned __int128);
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  puts("ok");
  return 0;
}
