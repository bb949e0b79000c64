#include <atomic>
struct Node { Node* next; };
std::atomic<Node*> head;
void push(Node* n) {
  n->next = head.load(std::memory_order_relaxed); //~ load relaxed
  while (!head.compare_exchange_weak(n->next, n, std::memory_order_release, std::memory_order_relaxed)) ; //~ cas-weak release/relaxed cas-loop
}
