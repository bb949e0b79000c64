//! What stands in front of the C library: threads, locks and everything else
//! that makes one thread wait for another, is a place to switch threads, or
//! gives memory back. All symbols are weak: a program that has its own keeps
//! it.

mod process;
mod thread;
