struct AtomicPointer { void* Acquire_Load() const; void NoBarrier_Store(void*); };
void* f(AtomicPointer& p) {
  p.NoBarrier_Store(nullptr); //~ store relaxed by=subtle on=p
  return p.Acquire_Load(); //~ load acquire
}
