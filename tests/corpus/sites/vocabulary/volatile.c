volatile int flag;
int plain;
void f(void) {
  flag = 1; //~ store relaxed by=volatile on=flag
  plain = 1;
  while (!flag) ; //~ load relaxed by=volatile spin(!=0)
}
