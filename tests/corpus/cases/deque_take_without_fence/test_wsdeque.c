/* Every job is run once, whoever gets it. */
#include "wsdeque.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define JOBS 8

static struct wsdeque deque;
static struct job jobs[JOBS];
static atomic_int runs[JOBS];

static void count(struct job *job)
{
    atomic_fetch_add(&runs[job - jobs], 1);
}

static void *thief(void *unused)
{
    (void)unused;
    for (int i = 0; i < JOBS; i++) {
        struct job *job = wsdeque_steal(&deque);
        if (job)
            job->run(job);
        else
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t thieves[2];
    int wrong = 0;

    wsdeque_init(&deque);
    for (int i = 0; i < 2; i++)
        pthread_create(&thieves[i], NULL, thief, NULL);
    for (int i = 0; i < JOBS; i += 2) {
        struct job *job;
        for (int k = i; k < i + 2; k++) {
            jobs[k].run = count;
            wsdeque_push(&deque, &jobs[k]);
        }
        while ((job = wsdeque_take(&deque)))
            job->run(job);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thieves[i], NULL);
    for (int i = 0; i < JOBS; i++)
        wrong += atomic_load(&runs[i]) != 1;
    if (wrong)
        printf("%d of %d jobs were not run once\n", wrong, JOBS);
    return wrong != 0;
}
