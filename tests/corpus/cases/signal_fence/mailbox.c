#include "mailbox.h"

void mailbox_init(struct mailbox *box)
{
    atomic_init(&box->full, 0);
    box->command = 0;
    box->words = 0;
}

int mailbox_send(struct mailbox *box, uint32_t command, const uint32_t *payload, uint32_t words)
{
    if (PORT_READ(box->full))
        return 0;
    PORT_MEMORY_BARRIER();
    if (words > MAILBOX_WORDS)
        words = MAILBOX_WORDS;
    box->command = command;
    box->words = words;
    for (uint32_t i = 0; i < words; i++)
        box->payload[i] = payload[i];
    PORT_MEMORY_BARRIER();
    PORT_WRITE(box->full, 1u);
    return 1;
}

int mailbox_receive(struct mailbox *box, uint32_t *command, uint32_t *payload, uint32_t *words)
{
    if (!PORT_READ(box->full))
        return 0;
    PORT_MEMORY_BARRIER();
    *command = box->command;
    *words = box->words;
    for (uint32_t i = 0; i < *words; i++)
        payload[i] = box->payload[i];
    PORT_MEMORY_BARRIER();
    PORT_WRITE(box->full, 0u);
    return 1;
}
