#include <atomic>
struct S { std::atomic<int> count; S& self(); };
void f(S& s) {
  s //~ rmw relaxed callee=fetch_add
      .self()
      .count
      .fetch_add(1,
                 std::memory_order_relaxed);
}
