/* Readings are never a mixture of two ticks. */
#include "clockpage.h"

#include <pthread.h>
#include <stdio.h>

#define TICKS 4

static struct clockpage page;
static int mixed[2];

static void *timekeeper(void *unused)
{
    (void)unused;
    for (uint64_t tick = 1; tick <= TICKS; tick++)
        clockpage_update(&page, tick * 1000, tick * 1000 * 3);
    return NULL;
}

static void *reader(void *mine)
{
    for (int i = 0; i < TICKS; i++) {
        struct clock_reading reading;
        if (clockpage_try_read(&page, &reading) && reading.cycles != reading.base_ns * 3)
            ++*(int *)mine;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];

    clockpage_init(&page);
    pthread_create(&threads[0], NULL, timekeeper, NULL);
    pthread_create(&threads[1], NULL, reader, &mixed[0]);
    pthread_create(&threads[2], NULL, reader, &mixed[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (mixed[0] + mixed[1])
        printf("%d mixed readings\n", mixed[0] + mixed[1]);
    return mixed[0] + mixed[1] != 0;
}
