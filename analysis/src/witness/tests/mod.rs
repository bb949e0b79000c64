//! Witnesses of the classic programs, what becomes of them when they are
//! tampered with, and random runs against the axioms read word for word and
//! against the analyzer.

mod agreement;
mod case;
mod garbage;
mod generate;
mod litmus;
mod mutants;
mod naive;
mod pairs;
mod random;
mod run;
mod synchronisation;
mod tamper;
