#include <stdatomic.h>
#define WAIT(p) do { while (!atomic_load(p)) ; } while (0) //~ load seq_cst body=WAIT
