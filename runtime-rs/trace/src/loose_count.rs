//! How far a thread gets in a turn of a schedule that is followed loosely.

/// How far a thread gets in a turn of a schedule that only the operations which change
/// something follow exactly: it makes so many of them, and then looks as often as it did
/// when the schedule was recorded, but not past its next change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LooseCount {
    /// Operations that change something.
    pub changes: u32,
    /// Compare-exchanges that failed after the last of them.
    pub attempts: u16,
    /// These and reads after it.
    pub reads: u16,
}

impl LooseCount {
    /// As the choices of a turn.
    pub fn pack(self) -> u64 {
        u64::from(self.changes) << 32 | u64::from(self.attempts) << 16 | u64::from(self.reads)
    }

    /// From the choices of a turn.
    pub fn unpack(choices: u64) -> Self {
        Self {
            changes: (choices >> 32) as u32,
            attempts: (choices >> 16) as u16,
            reads: choices as u16,
        }
    }
}
