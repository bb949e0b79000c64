#include "radix.h"

#include <stdio.h>

static struct radix radix;

static void *cover(void *unused)
{
    radix_cover(&radix, 1, 4096);
    radix_cover(&radix, 5, 8192);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int wrong = 0;

    radix_init(&radix);
    pthread_create(&thread, NULL, cover, NULL);
    for (int i = 0; i < 3; i++) {
        size_t first = radix_size(&radix, 2), second = radix_size(&radix, 6);

        wrong |= first != 0 && first != 4096;
        wrong |= second != 0 && second != 8192;
    }
    pthread_join(thread, NULL);
    radix_destroy(&radix);
    if (wrong)
        puts("a page of no size");
    return wrong;
}
