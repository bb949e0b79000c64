// A stack that any number of threads push to and pop from, linked through the
// nodes themselves. Nodes live until the program ends, so none comes back at an
// address that a sleeping thread still remembers.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

struct Node {
    int value = 0;
    Node *next = nullptr;
};

class Stack {
public:
    void push(Node *node)
    {
        Node *top = head.load(std::memory_order_relaxed);
        do {
            node->next = top;
        } while (!head.compare_exchange_weak(top, node, std::memory_order_relaxed,
                                             std::memory_order_relaxed));
    }

    Node *pop()
    {
        Node *top = head.load(std::memory_order_relaxed);
        while (top != nullptr) {
            Node *below = top->next;
            if (head.compare_exchange_weak(top, below, std::memory_order_acquire,
                                           std::memory_order_relaxed))
                break;
        }
        return top;
    }

private:
    std::atomic<Node *> head{nullptr};
};

int main()
{
    const int threads = 2;
    const int each = 3;
    Stack stack;
    std::vector<Node> nodes(threads * each);
    std::vector<int> sums(threads);
    std::vector<std::thread> workers;
    for (int me = 0; me < threads; me++) {
        workers.emplace_back([&, me] {
            for (int i = 0; i < each; i++) {
                Node *node = &nodes[me * each + i];
                node->value = me * each + i + 1;
                stack.push(node);
            }
            // As many as this thread has pushed: there is always one left.
            int sum = 0;
            for (int i = 0; i < each; i++) {
                if (const Node *node = stack.pop())
                    sum += node->value;
            }
            sums[me] = sum;
        });
    }
    for (std::thread &worker : workers)
        worker.join();

    int total = 0;
    for (int sum : sums)
        total += sum;
    const int count = threads * each;
    std::printf("popped a sum of %d of %d\n", total, count * (count + 1) / 2);
    return total == count * (count + 1) / 2 ? 0 : 1;
}
