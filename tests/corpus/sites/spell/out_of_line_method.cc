#include <atomic>
class Count { std::atomic<int> n; public: void up(); int get() const; };
class Plain { int n; public: void up(); };
void Count::up() { n++; } //~ rmw seq_cst on=n in=up
int Count::get() const { return n; } //~ load seq_cst on=n in=get
void Plain::up() { n++; }
