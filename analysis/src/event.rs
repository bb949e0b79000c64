//! What happened in a run, one [`Event`] after the other in the order of the
//! turn. This is the whole vocabulary between a run and the analysis.

use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// A thread of the program; numbers are given once and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// An atomic location: a small number that stands for an address for as long
/// as the object there lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// A mutex, rwlock or anything else that hands order from one thread to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockId(pub u64);

/// The place in the program an event comes from, as far as the analysis cares:
/// findings are told apart by it, and changed labels are looked up by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u32);

/// A range of bytes of the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub size: u64,
}

/// One step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The thread.
    pub thread: ThreadId,
    /// Its place in the program.
    pub site: SiteId,
    /// What.
    pub operation: Operation,
}

/// What a thread did. Values are the raw bits, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// An atomic load. With an exit condition it is a round of a spin loop: a
    /// round that does not leave the loop is checked but is not an event of the graph.
    Load {
        /// The location.
        location: LocationId,
        /// Its order.
        order: LoadOrder,
        /// The value read.
        value: u64,
        /// The condition that ends the spin loop around it, if it is one's.
        exit: Option<LoopExit>,
    },
    /// An atomic store.
    Store {
        /// The location.
        location: LocationId,
        /// Its order.
        order: StoreOrder,
        /// The value written.
        value: u64,
    },
    /// A read-modify-write that always writes. With an exit condition (on the
    /// value read) it is a round of a test-and-set loop: a round that stays in
    /// the loop and writes back what it read is checked but is not an event.
    Rmw {
        /// The location.
        location: LocationId,
        /// Its order.
        order: RmwOrder,
        /// The value read.
        read: u64,
        /// The value written.
        written: u64,
        /// The condition that ends the loop around it, if it is one's.
        exit: Option<LoopExit>,
    },
    /// A compare-exchange.
    CompareExchange {
        /// The location.
        location: LocationId,
        /// Order if it succeeds.
        success: RmwOrder,
        /// Order if it fails.
        failure: LoadOrder,
        /// Weak ones may fail for no reason.
        strength: CasStrength,
        /// The value it expected.
        expected: u64,
        /// The value it read.
        read: u64,
        /// What came of it.
        outcome: CasOutcome,
        /// It is retried until it succeeds with the same expected value, and
        /// nothing else happens in between: a round that fails is not an event.
        blocking: bool,
    },
    /// A thread fence.
    Fence {
        /// Its order.
        order: FenceOrder,
    },
    /// The thread starts another one; the child's first event comes later.
    Create {
        /// The new thread.
        child: ThreadId,
    },
    /// The thread has waited for the end of another one.
    Join {
        /// The ended thread.
        child: ThreadId,
    },
    /// The thread's last event.
    Exit,
    /// The thread has taken a lock (or passed a barrier, received a signal…).
    Acquire {
        /// The lock.
        lock: LockId,
        /// Alone or with other readers.
        mode: LockMode,
    },
    /// The thread gives a lock back (or arrives at a barrier, sends a signal…).
    Release {
        /// The lock.
        lock: LockId,
        /// As it was taken.
        mode: LockMode,
    },
    /// The thread makes an atomic object: a fresh location with no past, which
    /// lies in these bytes. Also what reinitialising an existing one is.
    Birth {
        /// The location.
        location: LocationId,
        /// Where it lies.
        bytes: Bytes,
        /// Its first value.
        value: u64,
    },
    /// Memory is given back: what lies in it ends.
    Death {
        /// The bytes.
        bytes: Bytes,
    },
    /// A plain read.
    Read {
        /// What is read.
        bytes: Bytes,
    },
    /// A plain write.
    Write {
        /// What is written.
        bytes: Bytes,
    },
}

impl Operation {
    /// Whether this is a round of a waiting loop that stays in the loop: it is
    /// checked, but nothing has happened.
    pub fn stays_in_loop(&self) -> bool {
        match *self {
            Self::Load { value, exit, .. } => exit.is_some_and(|exit| !exit.leaves(value)),
            Self::Rmw {
                read,
                written,
                exit,
                ..
            } => read == written && exit.is_some_and(|exit| !exit.leaves(read)),
            Self::CompareExchange {
                outcome, blocking, ..
            } => blocking && outcome == CasOutcome::Failed,
            _ => false,
        }
    }
}

/// Whether a compare-exchange may fail for no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CasStrength {
    /// It may.
    Weak,
    /// It fails only if the value differs.
    Strong,
}

/// What came of a compare-exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CasOutcome {
    /// It wrote this value.
    Exchanged(u64),
    /// It only read.
    Failed,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// A mutex, or the write side of an rwlock.
    Exclusive,
    /// The read side of an rwlock.
    Shared,
    /// Not held at all: a barrier, a condition, a semaphore, an annotation.
    /// Every acquire learns from every release before it.
    Signal,
}

/// The condition on the value read that ends a spin loop:
/// `(value & mask) RELATION operand`, both sides taken as unsigned or as
/// sign-extended from `width` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopExit {
    /// The bits that count.
    pub mask: u64,
    /// How the value compares.
    pub comparison: Comparison,
    /// What it is compared with.
    pub operand: u64,
    /// `Some(bits)`: compare as signed numbers of this width.
    pub signed: Option<u8>,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl LoopExit {
    /// The loop is left when the value is `operand`.
    pub fn equal(operand: u64) -> Self {
        Self {
            mask: u64::MAX,
            comparison: Comparison::Equal,
            operand,
            signed: None,
        }
    }

    /// Whether this value ends the loop.
    pub fn leaves(&self, value: u64) -> bool {
        let (left, right) = (self.widen(value & self.mask), self.widen(self.operand));
        match self.comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    fn widen(&self, value: u64) -> i128 {
        match self.signed {
            None => i128::from(value),
            Some(bits) => {
                let unused = 64 - u32::from(bits.clamp(1, 64));
                i128::from(((value << unused) as i64) >> unused)
            }
        }
    }
}
