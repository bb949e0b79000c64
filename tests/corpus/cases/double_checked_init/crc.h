/* Checksums. The table is calculated when it is first needed. */
#ifndef CRC_H
#define CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const void *data, size_t length);

/* How many bytes have been summed up so far, roughly. */
unsigned long crc32_bytes(void);

#endif
