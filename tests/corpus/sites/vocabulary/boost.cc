#include <boost/atomic.hpp>
boost::atomic<int> x;
void f() {
  x.store(1, boost::memory_order_release); //~ store release by=boost
  x.load(); //~ load seq_cst by=boost
  x = 2; //~ store seq_cst by=boost
  boost::atomic_thread_fence(boost::memory_order_acquire); //~ fence acquire by=boost
  x.opaque_add(1, boost::memory_order_relaxed); //~ rmw relaxed by=boost
}
