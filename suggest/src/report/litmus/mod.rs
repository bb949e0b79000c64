//! A violation as a litmus test: the few operations that prove it, with the outcome
//! that the memory model allows and no interleaving has. Where a finding rests on
//! more than loads, stores, exchanges and fences of threads that run at the same
//! time, it says why there is none.

mod build;
mod herd;
mod plain;

pub(crate) use build::litmus;
pub(crate) use herd::herd;
pub(crate) use plain::plain;
