/* tring: a ring of telemetry records between one producer and one consumer.
 *
 * The producer never waits: tring_put() returns 0 when the ring is full and the
 * record is dropped. Capacity is a power of two. */
#ifndef TRING_H
#define TRING_H

#include <stdatomic.h>
#include <stdint.h>

#define TRING_SLOTS 8u

struct tring_record {
    uint32_t channel;
    uint32_t length;
    int32_t sample[2];
};

struct tring {
    _Atomic uint32_t head; /* next record to read, written by the consumer */
    char pad0[60];
    _Atomic uint32_t tail; /* next record to write, written by the producer */
    char pad1[60];
    uint32_t dropped; /* producer only */
    struct tring_record slot[TRING_SLOTS];
};

void tring_init(struct tring *r);
int tring_put(struct tring *r, const struct tring_record *record);
int tring_get(struct tring *r, struct tring_record *record);

#endif
