template <class T> void f(T& x) {
  tpl_load<acquire>(x); //~ load acquire literal order=acquire by=tpl
  tpl_store<release>(x, 1); //~ store release
  tpl_load(x); //~ load seq_cst implied
  x.template get<relaxed>(); //~ load relaxed by=tpl on=x
}
