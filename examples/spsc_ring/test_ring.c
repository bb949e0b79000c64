/* Sends a few packets through the ring and checks that each one arrives, whole
 * and in order. */
#include "ring.h"

#include <pthread.h>
#include <stdio.h>

enum { PACKETS = 6 };

static struct ring ring;

static int checksum_of(int number)
{
    return number * 31 + 7;
}

static void *sender(void *unused)
{
    for (int i = 1; i <= PACKETS; i++)
        ring_send(&ring, (struct packet){i, checksum_of(i)});
    return unused;
}

static void *receiver(void *good)
{
    for (int i = 1; i <= PACKETS; i++) {
        struct packet packet = ring_receive(&ring);
        if (packet.number == i && packet.checksum == checksum_of(i))
            ++*(int *)good;
    }
    return NULL;
}

int main(void)
{
    pthread_t from;
    pthread_t to;
    int good = 0;
    pthread_create(&from, NULL, sender, NULL);
    pthread_create(&to, NULL, receiver, &good);
    pthread_join(from, NULL);
    pthread_join(to, NULL);
    printf("%d of %d packets arrived whole\n", good, PACKETS);
    return good == PACKETS ? 0 : 1;
}
