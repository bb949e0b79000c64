/* A reference count. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int count;
    int value;
};

static void release(struct object *object)
{
    if (atomic_fetch_sub_explicit(&object->count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        object->value = -1;
        free(object);
    }
}

static void *use(void *argument)
{
    struct object *object = argument;
    assert(object->value == 7);
    release(object);
    return 0;
}

int main(void)
{
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->count, 3);
    object->value = 7;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, use, object);
    release(object);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
