//! The memory models that a run can be judged by. They differ in what is
//! sequentially consistent and in what continues a release sequence, and in
//! nothing else.
//!
//! - RC11: Ori Lahav, Viktor Vafeiadis, Jeehoon Kang, Chung-Kil Hur and Derek
//!   Dreyer. *Repairing Sequential Consistency in C/C++11*. PLDI 2017.
//!   <https://doi.org/10.1145/3062341.3062352>
//! - RC20: Roy Margalit and Ori Lahav. *Verifying Observational Robustness
//!   against a C11-Style Memory Model*. POPL 2021.
//!   <https://doi.org/10.1145/3434285>

/// A memory model: release/acquire/relaxed accesses and fences without a cycle in
/// po ∪ rf, plus a reading of `seq_cst` and a rule for release sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Model {
    /// What SC fences and SC accesses mean.
    pub seq_cst: SeqCst,
    /// What continues a release sequence.
    pub release_sequences: ReleaseSequences,
}

/// What SC fences and SC accesses mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeqCst {
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

/// What continues the release sequence of a write: whoever reads a write of the
/// sequence by an acquire read synchronizes with its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReleaseSequences {
    /// C11 to C23, C++11 to C++17: read-modify-writes, and the stores of the head's
    /// own thread. What follows the head in modification order and is neither ends
    /// the sequence, so an execution without that store may be forbidden where the
    /// one with it is allowed: this rule is not closed under leaving out events.
    Cxx17,
    /// C++20 (P0982): read-modify-writes. Every execution that another rule allows,
    /// this one allows.
    #[default]
    Cxx20,
}

impl Model {
    /// RC11 with C++20's release sequences.
    pub const RC11: Self = Self {
        seq_cst: SeqCst::Rc11,
        release_sequences: ReleaseSequences::Cxx20,
    };

    /// RC20, whose release sequences are C++20's.
    pub const RC20: Self = Self {
        seq_cst: SeqCst::Rc20,
        release_sequences: ReleaseSequences::Cxx20,
    };

    /// The same with another rule for release sequences.
    pub const fn with(self, release_sequences: ReleaseSequences) -> Self {
        Self {
            release_sequences,
            ..self
        }
    }

    /// Whether SC fences are ordered among themselves by a location that they share.
    pub(crate) fn orders_fences(self) -> bool {
        self.seq_cst == SeqCst::Rc20
    }
}
