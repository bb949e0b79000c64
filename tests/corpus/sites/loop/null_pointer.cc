#include <atomic>
struct Node { std::atomic<Node*> next; };
Node* f(Node* n) {
  Node* m;
  while ((m = n->next.load(std::memory_order_acquire)) == nullptr) {} //~ load acquire spin(!=0)
  return m;
}
