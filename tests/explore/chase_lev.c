// Chase and Lev's deque: the owner pushes five times, pops three times and pushes twice
// more; a thief steals once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define STEALS 1
#define SIZE 10
static atomic_long bottom, top;
static atomic_int items[SIZE];
static int sum;

static void push(int value) {
    long at = atomic_load(&bottom);
    atomic_load(&top);
    atomic_store(&items[at % SIZE], value);
    atomic_store(&bottom, at + 1);
}

static int pop(void) {
    long at = atomic_load(&bottom) - 1;
    atomic_store(&bottom, at);
    long first = atomic_load(&top);
    if (first > at) {
        atomic_store(&bottom, at + 1);
        return 0;
    }
    int value = atomic_load(&items[at % SIZE]);
    if (first == at) {
        if (!atomic_compare_exchange_strong(&top, &first, first + 1)) value = 0;
        atomic_store(&bottom, at + 1);
    }
    return value;
}

static int steal(void) {
    long first = atomic_load(&top);
    long last = atomic_load(&bottom);
    if (first >= last) return 0;
    int value = atomic_load(&items[first % SIZE]);
    return atomic_compare_exchange_strong(&top, &first, first + 1) ? value : 0;
}

static void *owner(void *p) {
    for (int i = 1; i <= 5; i++) push(i);
    for (int i = 0; i < 3; i++) sum += pop();
    for (int i = 6; i <= 7; i++) push(i);
    return p;
}

static void *thief(void *p) {
    int mine = 0;
    for (int i = 0; i < STEALS; i++) mine += steal();
    assert(mine <= 28);
    return p;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, thief, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sum <= 28);
    return 0;
}
