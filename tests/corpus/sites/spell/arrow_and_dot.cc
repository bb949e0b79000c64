#include <atomic>
struct Node { std::atomic<Node*> next; };
Node* f(Node* n, Node& m) {
  m.next.store(n, std::memory_order_relaxed); //~ store relaxed on=m.next
  return n->next.load(std::memory_order_acquire); //~ load acquire on=n->next
}
