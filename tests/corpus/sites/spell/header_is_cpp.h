#pragma once
#include <atomic>
namespace n {
inline std::atomic<int> x;
inline int f() { return x; } //~ load seq_cst on=x
}
