int atomic_load(int *p);
int f(int *p) { return *p; }
