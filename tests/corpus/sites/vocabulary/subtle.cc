#include "base/atomicops.h"
typedef int Atomic32;
void f(volatile Atomic32* p) {
  base::subtle::Acquire_Load(p); //~ load acquire by=subtle on=p
  base::subtle::NoBarrier_Store(p, 1); //~ store relaxed
  Release_Store(p, 2); //~ store release
  base::subtle::Acquire_CompareAndSwap(p, 0, 1); //~ cas acquire/acquire
  base::subtle::NoBarrier_AtomicIncrement(p, 1); //~ rmw relaxed
  MemoryBarrier(); //~ fence seq_cst
}
