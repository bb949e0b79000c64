//! Interceptors in front of the C library: threads, locks and everything else
//! that makes one thread wait for another, is a place to switch threads, or
//! gives memory back. All symbols are weak: a program that has its own keeps
//! it.
//!
//! Where the runtime schedules, a thread never blocks in the library: it tries,
//! and if that fails it waits in the scheduler until another thread gives back
//! what it wants. Where the system schedules, the library's function is called
//! and what it did is recorded.

mod barrier;
mod bytes;
mod c11;
mod cancel;
mod condition;
mod descriptor;
mod ends;
mod futex;
mod kernel_object;
mod libatomic;
mod lock;
mod mapping;
mod memory;
mod message;
mod once;
mod openmp;
mod polling;
mod process;
mod random;
mod semaphore;
mod signal;
mod splicing;
mod start_main;
mod stdio;
mod stream;
mod system_call;
mod take;
mod text;
mod thread;
mod time;
mod timer;
mod wrapped;
