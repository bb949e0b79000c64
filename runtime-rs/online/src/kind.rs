//! What an event does, as far as it tells operations on one line apart.

use wmfix_trace::RecordedOperation as Operation;

/// What an event does, as far as it tells operations on one line apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// A read-modify-write.
    Rmw,
    /// A compare-exchange.
    CompareExchange,
    /// A fence.
    Fence,
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// Memory is given back.
    Free,
    /// A lock, a thread's start or end, a birth or death of memory.
    Other,
}

impl EventKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Load,
        Self::Store,
        Self::Rmw,
        Self::CompareExchange,
        Self::Fence,
        Self::Read,
        Self::Write,
        Self::Free,
        Self::Other,
    ];

    /// What an operation of a trace does.
    #[inline]
    pub fn of(operation: &Operation) -> Self {
        match operation {
            Operation::Load { .. } => Self::Load,
            Operation::Store { .. } => Self::Store,
            Operation::Rmw { .. } => Self::Rmw,
            Operation::CompareExchange { .. } => Self::CompareExchange,
            Operation::Fence { .. } => Self::Fence,
            Operation::Read { .. } => Self::Read,
            Operation::Write { .. } => Self::Write,
            Operation::Free { .. } => Self::Free,
            _ => Self::Other,
        }
    }

    /// Whether it is an atomic operation or a fence: what coverage counts.
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(
            self,
            Self::Load | Self::Store | Self::Rmw | Self::CompareExchange | Self::Fence
        )
    }
}
