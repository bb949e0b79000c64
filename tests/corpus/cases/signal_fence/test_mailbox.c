#include "mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define MESSAGES 6

static struct mailbox box;
static int wrong;

static void *core0(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        uint32_t payload[2] = {i * 10, i * 20};
        while (!mailbox_send(&box, i, payload, 2))
            sched_yield();
    }
    return NULL;
}

static void *core1(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        uint32_t command, words, payload[MAILBOX_WORDS];
        while (!mailbox_receive(&box, &command, payload, &words))
            sched_yield();
        if (command != i || words != 2 || payload[0] != i * 10 || payload[1] != i * 20)
            wrong++;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    mailbox_init(&box);
    pthread_create(&a, NULL, core0, NULL);
    pthread_create(&b, NULL, core1, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (wrong)
        printf("%d wrong messages\n", wrong);
    return wrong != 0;
}
