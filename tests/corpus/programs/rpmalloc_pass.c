/* Blocks of rpmalloc handed from thread to thread: each thread allocates, swaps
 * its block into a slot, and checks and frees what it found there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rpmalloc.h"

enum { slots = 4, rounds = 60, threads = 3 };
static _Atomic(unsigned char *) slot[slots];
static atomic_int broken;

static void check_and_free(unsigned char *block)
{
    if (!block)
        return;
    for (int i = 1; i < block[0]; i++)
        if (block[i] != block[0])
            atomic_store(&broken, 1);
    rpfree(block);
}

static void *pass(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg;
    rpmalloc_thread_initialize();
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1664525 + 1013904223;
        unsigned char size = (unsigned char)(16 + (seed >> 24) % 200);
        unsigned char *block = rpmalloc(size);
        memset(block, size, size);
        check_and_free(atomic_exchange(&slot[seed % slots], block));
    }
    rpmalloc_thread_finalize(1);
    return 0;
}

int main(void)
{
    pthread_t id[threads];
    rpmalloc_initialize();
    for (size_t i = 0; i < threads; i++)
        pthread_create(&id[i], 0, pass, (void *)(i + 1));
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], 0);
    for (int i = 0; i < slots; i++)
        check_and_free(atomic_exchange(&slot[i], 0));
    rpmalloc_finalize();
    puts(broken ? "broken" : "whole");
    return broken;
}
