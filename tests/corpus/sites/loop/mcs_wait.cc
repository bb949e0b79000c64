#include <atomic>
struct Mcs { std::atomic<bool> locked; std::atomic<Mcs*> next; };
void wait(Mcs* me) {
  while (me->locked.load(std::memory_order_acquire)) {} //~ load acquire on=me->locked spin(==0)
  Mcs* n;
  do n = me->next.load(); while (!n); //~ load seq_cst on=me->next spin(!=0)
}
