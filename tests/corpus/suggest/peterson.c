#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag[2];
static atomic_int turn;
static int counter;

static void enter(int me) {
    int other = 1 - me;
    atomic_store_explicit(&flag[me], 1, memory_order_relaxed);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    while (atomic_load_explicit(&flag[other], memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void leave(int me) {
    atomic_store_explicit(&flag[me], 0, memory_order_relaxed);
}

static void *work(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 2; i++) {
        enter(me);
        counter++;
        leave(me);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int ids[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counter);
    return counter != 4;
}
