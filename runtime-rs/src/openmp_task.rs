//! What a thread keeps of the OpenMP task that it runs.

/// What a thread knows of the OpenMP task that it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenMpTask {
    /// Whether it is in a call of the library.
    pub(crate) in_library: bool,
    /// What the task's children give when they end; 0: the thread's own.
    pub(crate) children: u64,
    /// The innermost group of tasks; 0 if there is none.
    pub(crate) group: u64,
    /// What members of the team give when they end; 0 without one.
    pub(crate) team: u64,
    /// The program's function that combines what threads have reduced.
    pub(crate) combine: usize,
}
