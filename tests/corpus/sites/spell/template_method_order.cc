#include <atomic>
template <class T> struct Box { std::atomic<T> v; T get() { return v.load(std::memory_order_acquire); } }; //~ load acquire in=get
template <class T> T read(Box<T>& b) { return b.v.load(); } //~ load seq_cst on=b.v
