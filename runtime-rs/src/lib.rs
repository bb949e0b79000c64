//! What is linked into the program under test: the `__tsan_*` entry points that
//! the compiler's instrumentation calls, the interceptors, the scheduler and
//! the recorder.
//!
//! The central invariant: **one thread holds the turn, and only it changes the
//! state.** A thread that runs program code holds the turn (it will be asked at
//! its next visible operation whether it keeps it); every other thread is
//! parked inside the runtime, or was found stuck in a call that is not
//! controlled and has lost the turn. Under `os` scheduling the turn is a lock
//! that is held for one operation. `turn::Held` is the proof of holding it.
//!
//! The program's atomic memory is touched in `memory` alone, and every choice
//! that is not determined goes through `strategy`.
//!
//! No allocation here is the program's (`arena`), nothing unwinds into C (the
//! archive is built with `panic = "abort"`), and std is not linked: its own use
//! of threads, locks and memory would come back to us through the interceptors.
#![no_std]
#![cfg_attr(test, allow(dead_code))]

// Unwinding builds, which are those of lints and tests and never an archive
// for a program, need the panic machinery of std.
#[cfg(not(panic = "abort"))]
extern crate std;

extern crate alloc;

#[cfg(not(test))]
mod abi;
mod allocations;
mod alone;
#[cfg_attr(test, allow(unused_imports))]
mod arena;
mod barriers;
mod clocks;
mod config;
mod context_keys;
mod contexts;
mod descriptors;
mod directed;
mod environment;
mod filter;
mod finish;
mod free_run;
mod gate;
mod granules;
mod handlers;
mod help;
mod holders;
mod initialisations;
#[cfg(not(test))]
mod intercept;
#[cfg(not(test))]
mod leaving;
mod locations;
mod lost_orders;
mod memory;
#[cfg(not(test))]
mod misuse;
mod modules;
mod online;
mod openmp_task;
mod park;
mod plain_sites;
mod random;
mod real;
mod recorder;
mod rng;
mod scheduler;
#[cfg(not(test))]
mod server;
mod shadow;
mod shared_memory;
mod spin;
mod stale_run;
mod start;
mod state;
mod strategy;
mod stuck;
mod sys;
mod thread;
mod thread_key;
mod thread_table;
mod tls;
mod turn;
#[cfg(not(test))]
mod unseen;
mod unwind;
mod volatile;

#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    sys::say(format_args!(
        "wmfix: internal error in the runtime: {info}\n"
    ));
    sys::abort_now()
}

// The precompiled parts of core name the personality of unwinding, which is
// never asked for here. Weak and hidden, so that the one of a Rust library in
// the same program stays its own.
#[cfg(all(not(test), panic = "abort"))]
core::arch::global_asm!(
    ".text",
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".balign 4",
    "rust_eh_personality:",
    ".4byte 0",
);
