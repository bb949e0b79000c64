/* One producer, one consumer: records arrive in order and in one piece. */
#include "tring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define RECORDS 12

static struct tring ring;
static int torn;

static void *produce(void *unused)
{
    (void)unused;
    for (int i = 0; i < RECORDS; i++) {
        struct tring_record record = {7, 2, {i, -i}};
        while (!tring_put(&ring, &record))
            sched_yield();
    }
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    for (int i = 0; i < RECORDS; i++) {
        struct tring_record record;
        while (!tring_get(&ring, &record))
            sched_yield();
        if (record.sample[0] != i || record.sample[1] != -i)
            torn++;
    }
    return NULL;
}

int main(void)
{
    pthread_t producer, consumer;

    tring_init(&ring);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    if (torn)
        printf("%d records were torn\n", torn);
    return torn != 0;
}
