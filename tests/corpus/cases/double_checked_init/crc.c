#include "crc.h"

#include "lib_atomic.h"

#include <pthread.h>

/* Half a byte at a time: a small table, for small caches. */
static uint32_t table[16];
static int table_ready;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long bytes_summed;

static void calculate_table(void)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 4; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        table[i] = value;
    }
}

static void need_table(void)
{
    if (LIB_GET(table_ready))
        return;
    pthread_mutex_lock(&table_lock);
    if (!LIB_GET(table_ready)) {
        calculate_table();
        LIB_SET(table_ready, 1);
    }
    pthread_mutex_unlock(&table_lock);
}

uint32_t crc32_of(const void *data, size_t length)
{
    const uint8_t *bytes = data;
    uint32_t crc = 0xffffffffu;

    need_table();
    for (size_t i = 0; i < length; i++) {
        crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
        crc = crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15];
    }
    __atomic_fetch_add(&bytes_summed, length, __ATOMIC_RELAXED);
    return ~crc;
}

unsigned long crc32_bytes(void)
{
    return LIB_GET(bytes_summed);
}
