bar_cell c;
void f(bar_cell *p) {
  bar_get(p, BAR_ACQ); //~ load acquire literal order=BAR_ACQ by=bar
  bar_get(p); //~ load seq_cst implied
  bar_set(&c, 1, BAR_REL); //~ store release on=c
  bar_swap(3, p, BAR_RLX); //~ rmw relaxed on=p
  c = 2; //~ store seq_cst by=bar on=c
}
