/* Everything that a scenario file of C can say. */
#include <wmfix/scenarios.h>

#include <stdatomic.h>

enum { SLOTS = 2, FULL = -1, NONE = -2 };
static _Atomic int slots[SLOTS];
static atomic_int users, closed;

WMFIX_SETUP
{
    for (int i = 0; i < SLOTS; ++i)
        atomic_init(&slots[i], 0);
    atomic_init(&users, 0);
    atomic_init(&closed, 0);
}
WMFIX_TEARDOWN { WMFIX_EXPECT(atomic_load(&users) == 0); }
WMFIX_THREAD
{
    atomic_fetch_add(&users, 1);
    return &users;
}
WMFIX_THREAD_END { atomic_fetch_sub((atomic_int *)own, 1); }
WMFIX_ROLE(setter, 1)
WMFIX_OPERATION(put, setter, refusal(FULL), (wmfix_key key, int value))
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&slots[key % SLOTS], &none, value))
        return FULL;
    return 0;
}
WMFIX_OPERATION(get, any, strict, refusal(NONE), (wmfix_key key))
{
    int value = atomic_load(&slots[key % SLOTS]);
    return value == 0 ? NONE : value;
}
WMFIX_OPERATION(count, any, unjudged, (void)) { return atomic_load(WMFIX_OWN(atomic_int)); }
WMFIX_OPERATION(close, any, once, (void))
{
    WMFIX_EXPECT(wmfix_thread() > 0);
    return atomic_exchange(&closed, 1);
}
WMFIX_FINALLY { return atomic_load(&closed); }
