// A sequence lock whose writer and whose reader take the lock: one of each.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned sequence;
static int data;

static void *writer(void *p) {
    pthread_mutex_lock(&lock);
    sequence++;
    atomic_thread_fence(memory_order_release);
    data = 42;
    atomic_thread_fence(memory_order_release);
    sequence++;
    pthread_mutex_unlock(&lock);
    return p;
}

static void *reader(void *p) {
    pthread_mutex_lock(&lock);
    int seen = data;
    pthread_mutex_unlock(&lock);
    return seen ? p : 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
