/* In each phase a thread writes its own cell and reads its neighbour's of the
 * phase before. */
#include "sense_barrier.h"

#include <pthread.h>
#include <stdio.h>

#define PARTIES 3
#define PHASES 3

static struct sense_barrier barrier;
static int cells[PHASES][PARTIES];
static int wrong[PARTIES];
static atomic_int lasts;

static void *party(void *number)
{
    struct sense_party self;
    int me = *(int *)number;

    sense_party_init(&self);
    for (int phase = 0; phase < PHASES; phase++) {
        if (phase > 0 && cells[phase - 1][(me + 1) % PARTIES] != phase)
            wrong[me]++;
        cells[phase][me] = phase + 1;
        if (sense_barrier_wait(&barrier, &self))
            atomic_fetch_add(&lasts, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PARTIES];
    int numbers[PARTIES] = {0, 1, 2};
    int sum = 0;

    sense_barrier_init(&barrier, PARTIES);
    for (int i = 0; i < PARTIES; i++)
        pthread_create(&threads[i], NULL, party, &numbers[i]);
    for (int i = 0; i < PARTIES; i++) {
        pthread_join(threads[i], NULL);
        sum += wrong[i];
    }
    if (sum || lasts != PHASES)
        printf("%d wrong cells, %d last ones\n", sum, atomic_load(&lasts));
    return sum || lasts != PHASES;
}
