#include <pthread.h>
static struct { unsigned full : 1, dirty : 1; int count; } page;
static void *one(void *unused) { page.full = 1; page.count = 1; return unused; }
static void *two(void *unused) { return page.full && page.count ? unused : 0; }
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
