/* One thread allocates and fills blocks, another one checks and frees them. */
#include "xa_page.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define MESSAGES 8

static struct xa_page page;
static _Atomic(long *) slot;
static int wrong;

static void *consumer(void *unused)
{
    (void)unused;
    for (long i = 0; i < MESSAGES; i++) {
        long *message;
        while (!(message = atomic_exchange(&slot, NULL)))
            sched_yield();
        if (message[1] != i || message[2] != -i)
            wrong++;
        xa_page_free_remote(&page, message);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;

    xa_page_init(&page);
    pthread_create(&thread, NULL, consumer, NULL);
    for (long i = 0; i < MESSAGES; i++) {
        long *message;
        while (!(message = xa_page_alloc(&page)))
            sched_yield();
        message[1] = i;
        message[2] = -i;
        while (atomic_load(&slot))
            sched_yield();
        atomic_store(&slot, message);
    }
    pthread_join(thread, NULL);
    if (wrong)
        printf("%d wrong messages\n", wrong);
    return wrong != 0;
}
