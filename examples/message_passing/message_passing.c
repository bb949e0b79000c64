/* One thread writes a message, then raises a flag. The other waits for the flag
 * and reads the message. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static char text[32];
static atomic_int length;
static atomic_int ready;

static void *writer(void *argument)
{
    const char *message = argument;
    int written = 0;
    while (message[written] != '\0') {
        text[written] = message[written];
        written++;
    }
    atomic_store_explicit(&length, written, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *reader(void *result)
{
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    int expected = atomic_load_explicit(&length, memory_order_relaxed);
    int found = 0;
    while (text[found] != '\0')
        found++;
    *(int *)result = found == expected && found > 0;
    return NULL;
}

int main(void)
{
    pthread_t from;
    pthread_t to;
    int complete = 0;
    pthread_create(&from, NULL, writer, "the eagle has landed");
    pthread_create(&to, NULL, reader, &complete);
    pthread_join(from, NULL);
    pthread_join(to, NULL);
    puts(complete ? "the message arrived in one piece" : "the message is damaged");
    return complete ? 0 : 1;
}
