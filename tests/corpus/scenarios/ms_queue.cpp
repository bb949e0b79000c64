// Michael and Scott's queue. Nodes are freed when the queue is.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <optional>

class Queue {
    struct Node {
        int value;
        std::atomic<Node *> next;
    };
    Node *first;
    std::atomic<Node *> head, tail;

public:
    Queue() : first(new Node{0, {nullptr}}), head(first), tail(first) {}
    ~Queue()
    {
        while (first != nullptr) {
            Node *next = first->next.load(std::memory_order_relaxed);
            delete first;
            first = next;
        }
    }

    void push(int value)
    {
        Node *node = new Node{value, {nullptr}};
        for (;;) {
            Node *last = tail.load(std::memory_order_acquire);
            Node *next = last->next.load(std::memory_order_acquire);
            if (next != nullptr) {
                tail.compare_exchange_weak(last, next, std::memory_order_release, std::memory_order_relaxed);
            } else if (last->next.compare_exchange_weak(next, node, std::memory_order_release,
                                                        std::memory_order_relaxed)) {
                tail.compare_exchange_strong(last, node, std::memory_order_release, std::memory_order_relaxed);
                return;
            }
        }
    }

    std::optional<int> pop()
    {
        Node *front = head.load(std::memory_order_acquire);
        for (;;) {
            Node *next = front->next.load(std::memory_order_acquire);
            if (next == nullptr)
                return {};
            int value = next->value;
            if (head.compare_exchange_weak(front, next, std::memory_order_acq_rel, std::memory_order_acquire))
                return value;
        }
    }
};

WMFIX_OBJECT(Queue)
WMFIX_OPERATION(push, any, (Queue &q, int v) { q.push(v); })
WMFIX_OPERATION(pop, any, (Queue &q) { return q.pop(); })
