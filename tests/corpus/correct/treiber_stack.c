/* Treiber's stack. Nodes are not given back while the stack is in use. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;

static void push(struct node *node)
{
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static struct node *pop(void)
{
    struct node *node = atomic_load_explicit(&top, memory_order_acquire);
    while (node && !atomic_compare_exchange_weak_explicit(&top, &node, node->next,
                                                          memory_order_acquire,
                                                          memory_order_acquire))
        ;
    return node;
}

static struct node nodes[2][2];

static void *work(void *argument)
{
    struct node *own = argument;
    for (int i = 0; i < 2; i++) {
        own[i].value = 1;
        push(&own[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, nodes[i]);
    int sum = 0;
    while (sum < 2) {
        struct node *node = pop();
        if (node)
            sum += node->value;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (struct node *node; (node = pop());)
        sum += node->value;
    assert(sum == 4);
    return 0;
}
