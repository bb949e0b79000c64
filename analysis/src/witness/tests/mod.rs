//! Witnesses of the classic programs, and what becomes of them when they
//! are tampered with.

mod litmus;
mod mutants;
mod run;
mod synchronisation;
