/* A mailbox of one message between two cores: the sender waits until the last
 * message was taken. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "port.h"

#include <stdint.h>

#define MAILBOX_WORDS 4

struct mailbox {
    atomic_uint full;
    uint32_t command;
    uint32_t words;
    uint32_t payload[MAILBOX_WORDS];
};

void mailbox_init(struct mailbox *box);

/* 0 if the box is still full. */
int mailbox_send(struct mailbox *box, uint32_t command, const uint32_t *payload, uint32_t words);

/* 0 if the box is empty. */
int mailbox_receive(struct mailbox *box, uint32_t *command, uint32_t *payload, uint32_t *words);

#endif
