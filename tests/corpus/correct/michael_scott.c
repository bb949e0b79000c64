/* The queue of Michael and Scott, two producers and two consumers. Nodes are not given back.
   An old end of the queue looks like one that another thread is about to move. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    int value;
    struct node *_Atomic next;
};

static struct node nodes[5];
static struct node *_Atomic head = &nodes[0], *_Atomic tail = &nodes[0];

static void put(struct node *node)
{
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        struct node *none = 0;
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &none, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
    }
}

static int take(void)
{
    for (;;) {
        struct node *first = atomic_load(&head);
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (first == last) {
            if (!next)
                return 0;
            atomic_compare_exchange_strong(&tail, &last, next);
        } else {
            int value = next->value;
            if (atomic_compare_exchange_strong(&head, &first, next))
                return value;
        }
    }
}

static void *producer(void *own)
{
    struct node *mine = own;
    put(&mine[0]);
    put(&mine[1]);
    return 0;
}

static void *consumer(void *unused)
{
    (void)unused;
    int last_of[2] = {0, 0};
    for (int i = 0; i < 5; i++) {
        int value = take();
        int *last = &last_of[value > 2];
        assert(value == 0 || value > *last);
        if (value)
            *last = value;
    }
    return 0;
}

int main(void)
{
    pthread_t first, second, third, fourth;
    for (int i = 1; i <= 4; i++)
        nodes[i].value = i;
    pthread_create(&first, 0, producer, &nodes[1]);
    pthread_create(&second, 0, producer, &nodes[3]);
    pthread_create(&third, 0, consumer, 0);
    pthread_create(&fourth, 0, consumer, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    pthread_join(third, 0);
    pthread_join(fourth, 0);
    return 0;
}
