#include <atomic>
#include <thread>

struct Node {
    int value;
    Node *next;
};

static std::atomic<Node *> head{nullptr};

static void push(Node *node) {
    Node *old = head.load(std::memory_order_relaxed);
    do {
        node->next = old;
    } while (!head.compare_exchange_weak(old, node, std::memory_order_relaxed, std::memory_order_relaxed));
}

static Node *pop() {
    Node *old = head.load(std::memory_order_relaxed);
    while (old && !head.compare_exchange_weak(old, old->next, std::memory_order_relaxed, std::memory_order_relaxed))
        ;
    return old;
}

int main() {
    static Node nodes[4];
    int sum = 0;
    std::thread producer([] {
        for (int i = 0; i < 2; i++) {
            nodes[i].value = i;
            push(&nodes[i]);
        }
    });
    std::thread consumer([&sum] {
        for (int i = 0; i < 2; i++)
            if (Node *node = pop())
                sum += node->value;
    });
    producer.join();
    consumer.join();
    return sum > 1;
}
