#include "uart_ring.h"

void uart_ring_init(struct uart_ring *ring)
{
    ring->head = 0;
    ring->tail = 0;
    ring->overruns = 0;
}

int uart_ring_receive(struct uart_ring *ring, uint8_t byte)
{
    unsigned tail = ring->tail;
    unsigned head = ring->head;

    if (tail - head == UART_RING_SIZE) {
        ring->overruns++;
        return 0;
    }
    ring->data[tail % UART_RING_SIZE] = byte;
    ring->tail = tail + 1;
    return 1;
}

int uart_ring_read(struct uart_ring *ring)
{
    unsigned head = ring->head;
    unsigned tail = ring->tail;
    uint8_t byte;

    if (head == tail)
        return -1;
    byte = ring->data[head % UART_RING_SIZE];
    ring->head = head + 1;
    return byte;
}
