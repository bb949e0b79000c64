/* All threads get the same descriptor, and it is complete. */
#include "devtab.h"

#include <assert.h>
#include <pthread.h>

#define THREADS 3

static struct devtab table;

static void *ask(void *out)
{
    struct device **mine = out;

    for (uint32_t id = 0; id < 2; id++) {
        mine[id] = devtab_get(&table, id);
        assert(mine[id] && mine[id]->id == id);
        assert(mine[id]->lanes == 1u << id);
        assert(mine[id]->base == 0x10000000u + id * 0x1000u);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct device *got[THREADS][2];

    devtab_init(&table);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, got[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        assert(got[i][0] == got[0][0] && got[i][1] == got[0][1]);
    assert(devtab_count(&table) == 2);
    devtab_destroy(&table);
    return 0;
}
