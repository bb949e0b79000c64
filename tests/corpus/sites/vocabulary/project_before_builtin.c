int f(int *p) { return atomic_load(p); } //~ load acquire by=ours
