// Treiber's stack. Nodes are freed when the stack is.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <optional>

class Stack {
    struct Node {
        int value;
        Node *next;
        Node *made_before;
    };
    std::atomic<Node *> top{nullptr}, made{nullptr};

public:
    ~Stack()
    {
        for (Node *node = made.load(std::memory_order_relaxed); node != nullptr;) {
            Node *next = node->made_before;
            delete node;
            node = next;
        }
    }

    void push(int value)
    {
        Node *node = new Node{value, nullptr, made.load(std::memory_order_relaxed)};
        while (!made.compare_exchange_weak(node->made_before, node, std::memory_order_relaxed)) {
        }
        node->next = top.load(std::memory_order_relaxed);
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_release,
                                          std::memory_order_relaxed)) {
        }
    }

    std::optional<int> pop()
    {
        Node *node = top.load(std::memory_order_acquire);
        while (node != nullptr && !top.compare_exchange_weak(node, node->next, std::memory_order_acquire,
                                                             std::memory_order_acquire)) {
        }
        return node == nullptr ? std::nullopt : std::optional<int>(node->value);
    }
};

WMFIX_OBJECT(Stack)
WMFIX_OPERATION(push, any, (Stack &s, int v) { s.push(v); })
WMFIX_OPERATION(pop, any, (Stack &s) { return s.pop(); })
