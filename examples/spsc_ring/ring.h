/* A ring buffer between one thread that sends and one that receives. As with the
 * descriptor ring of a network card, each slot says itself whose it is: the
 * sender's while `full` is 0, the receiver's while it is 1. */
#ifndef RING_H
#define RING_H

#include <stdatomic.h>

enum { RING_SLOTS = 2 };

struct packet {
    int number;
    int checksum;
};

struct slot {
    atomic_int full;
    struct packet packet;
};

struct ring {
    struct slot slots[RING_SLOTS];
    unsigned next_to_send;    /* the sender's own */
    unsigned next_to_receive; /* the receiver's own */
};

/* Waits for room. */
void ring_send(struct ring *ring, struct packet packet);

/* Waits for a packet. */
struct packet ring_receive(struct ring *ring);

#endif
