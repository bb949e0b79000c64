/* zstd's own worker threads compress a buffer; it must come back whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

int main(void)
{
    size_t size = 3 << 20;
    char *text = malloc(size), *back = malloc(size);
    size_t room = ZSTD_compressBound(size);
    char *packed = malloc(room);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)((i * 2654435761u) >> 27);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 3)))
        return 2;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1 << 20);
    size_t length = ZSTD_compress2(context, packed, room, text, size);
    if (ZSTD_isError(length))
        return 3;
    size_t restored = ZSTD_decompress(back, size, packed, length);
    int same = restored == size && !memcmp(text, back, size);
    printf("%s\n", same ? "same" : "different");
    ZSTD_freeCCtx(context);
    free(text);
    free(back);
    free(packed);
    return same ? 0 : 1;
}
