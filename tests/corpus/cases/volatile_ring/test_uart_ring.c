#include "uart_ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define BYTES 12

static struct uart_ring ring;
static int wrong;

static void *handler(void *unused)
{
    (void)unused;
    for (int i = 0; i < BYTES; i++) {
        while (!uart_ring_receive(&ring, (uint8_t)(i + 1)))
            sched_yield();
    }
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < BYTES; i++) {
        int byte;
        while ((byte = uart_ring_read(&ring)) < 0)
            sched_yield();
        if (byte != i + 1)
            wrong++;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    uart_ring_init(&ring);
    pthread_create(&a, NULL, handler, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (wrong)
        printf("%d wrong bytes\n", wrong);
    return wrong != 0;
}
