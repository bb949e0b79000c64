/* Bytes from the receive handler to the reader, without a lock. The handler runs
 * on a thread of its own when the driver is built for the simulator. */
#ifndef UART_RING_H
#define UART_RING_H

#include <stdint.h>

#define UART_RING_SIZE 8u

struct uart_ring {
    volatile unsigned head; /* reader */
    volatile unsigned tail; /* handler */
    volatile unsigned overruns;
    uint8_t data[UART_RING_SIZE];
};

void uart_ring_init(struct uart_ring *ring);

/* Handler: 0 if the byte had to be dropped. */
int uart_ring_receive(struct uart_ring *ring, uint8_t byte);

/* Reader: the next byte, or -1. */
int uart_ring_read(struct uart_ring *ring);

#endif
