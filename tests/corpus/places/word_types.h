#pragma once
#include <stdint.h>

/* A word in a structure whose other name comes later. */
struct at_s {
    uint32_t v;
};
typedef struct at_s at_t;

/* One that the user of this header defines. */
struct late_s;
typedef struct late_s late_t;
