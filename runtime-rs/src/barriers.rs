//! The barriers of the program, as the runtime counts them where it schedules.

/// A barrier of the program.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) address: u64,
    /// How many it waits for.
    pub(crate) count: u32,
    /// How many are there.
    pub(crate) arrived: u32,
    /// How often it was passed.
    pub(crate) round: u32,
}
