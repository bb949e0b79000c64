#include <stdatomic.h>
volatile int flag;
void f(void) { flag = 1; while (!flag) ; }
