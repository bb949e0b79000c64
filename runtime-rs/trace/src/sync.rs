//! What a step of an exploration did with a synchronisation object, where events do
//! not say it: what failed, what it found, and whom it let go on.

/// What a step does with a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// It tried to take a lock for itself. If it could, the event follows.
    TryExclusive,
    /// It tried to share a lock. If it could, the event follows.
    TryShared,
    /// It took something, for which it would have waited while the state was 0.
    Take,
    /// It took something if the state was not 0.
    Try,
    /// It passed, for which it would have waited while the state was 0; where the state
    /// is 1, it would have changed the object.
    Pass,
    /// It changed the object.
    Change,
    /// It looked at the object.
    Look,
    /// It read the four bytes at the address.
    ReadWord,
    /// It let others go on.
    Publish,
    /// It went on because another one let it.
    Learn,
    /// It did something whose orders are not explored.
    Unexplored,
}

impl SyncKind {
    /// All of them, by the number that stands for each in a trace.
    const ALL: [Self; 11] = [
        Self::TryExclusive,
        Self::TryShared,
        Self::Take,
        Self::Try,
        Self::Pass,
        Self::Change,
        Self::Look,
        Self::ReadWord,
        Self::Publish,
        Self::Learn,
        Self::Unexplored,
    ];

    pub(crate) fn byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}
