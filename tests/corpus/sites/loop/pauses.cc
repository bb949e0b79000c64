#include <atomic>
#include <thread>
std::atomic<int> x;
#include <immintrin.h>
void cpu_relax();
void f() { while (!x.load()) _mm_pause(); } //~ load seq_cst spin(!=0)
void g() { while (!x.load()) cpu_relax(); } //~ load seq_cst
void h() { while (!x.load()) std::this_thread::yield(); } //~ load seq_cst spin(!=0)
void i() { while (!x.load()) std::this_thread::sleep_for(1); } //~ load seq_cst
void j() { while (!x.load()) __asm__ volatile("pause"); } //~ load seq_cst spin(!=0)
