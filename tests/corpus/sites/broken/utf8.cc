#include <atomic>
// Zähler – größer als ∞
std::atomic<int> größe;
int f() { return größe.load(std::memory_order_acquire); } //~ load acquire on=größe
const char* s = "日本語"; void g() { größe.store(1); } //~ store seq_cst
