//! The memory models that a run can be judged by. They differ in what is
//! sequentially consistent and in nothing else.
//!
//! - RC11: Ori Lahav, Viktor Vafeiadis, Jeehoon Kang, Chung-Kil Hur and Derek
//!   Dreyer. *Repairing Sequential Consistency in C/C++11*. PLDI 2017.
//!   <https://doi.org/10.1145/3062341.3062352>
//! - RC20: Roy Margalit and Ori Lahav. *Verifying Observational Robustness
//!   against a C11-Style Memory Model*. POPL 2021.
//!   <https://doi.org/10.1145/3434285>

/// A memory model: release/acquire/relaxed accesses and fences with C++20
/// release sequences and no cycle in po ∪ rf, plus a reading of `seq_cst`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// RC11: an SC fence is an acquire and a release fence and no access;
    /// SC fences and SC accesses are kept in order by psc. Monotone: a
    /// stronger label never allows more.
    #[default]
    Rc11,
    /// RC20 as printed, for comparison: an SC fence is an acquire fence, an
    /// acq_rel RMW on a location that all SC fences share, and a release
    /// fence; an SC access is no more than acq_rel. Not monotone in fences.
    Rc20,
}
