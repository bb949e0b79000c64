int l;
void lock(void) { while (__sync_lock_test_and_set(&l, 1)) ; } //~ rmw acquire spin(==0) by=gnu
void unlock(void) { __sync_lock_release(&l); } //~ store release
