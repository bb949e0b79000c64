//! What a fork server and the tool say to each other, over a socket. The program
//! connects, says whether it can serve, and then forks a run for every request.
//!
//! 1. The program: [`READY`], or [`CANNOT`] and an [`Obstacle`].
//! 2. The tool: a length in four bytes, then strings that each end in a zero byte:
//!    the file for what the run prints, the file for its input (empty: as it is),
//!    and the environment variables of the run, as `NAME=VALUE`.
//! 3. The program: the number of the new process in four bytes; 0 if there is none.
//! 4. The program, when that has ended: a byte, whether a signal ended it, and the
//!    signal or the exit code in four bytes. The process is not collected yet.
//! 5. The tool: one byte. Now it may be collected, and the next request may come.
//!
//! Numbers are little-endian.

/// The environment variable that names the socket, without the zero byte that
/// makes it an abstract one.
pub const SERVER_VARIABLE: &str = "WMFIX_SERVER";

/// The environment variable with the descriptors that the program inherits besides
/// the standard ones, separated by commas.
pub const INHERITED_VARIABLE: &str = "WMFIX_SERVER_INHERITED";

/// A program that can be a server of this version defines this symbol.
pub const SERVER_SYMBOL: &str = "__wmfix_fork_server_1";

/// Settings that not every run of a program has. A server has none of them, and a run
/// only those of its request.
pub const RUN_VARIABLES: [&str; 12] = [
    "WMFIX_CHECK",
    "WMFIX_EXPLORE",
    "WMFIX_FILTER",
    "WMFIX_LOSE",
    "WMFIX_MODEL",
    "WMFIX_PREDICT",
    "WMFIX_RELEASE_SEQUENCES",
    "WMFIX_REPLAY",
    "WMFIX_SITES",
    "WMFIX_STALE",
    "WMFIX_UNDO",
    "WMFIX_WEAK",
];

/// The program can serve.
pub const READY: u8 = b'r';

/// It cannot; an [`Obstacle`] follows.
pub const CANNOT: u8 = b'c';

/// What the program did before `main` that a fork cannot give to every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Obstacle {
    /// It started a thread.
    Thread = 1,
    /// It started a process.
    Process = 2,
    /// It opened a file.
    File = 3,
    /// It shares memory.
    SharedMemory = 4,
    /// It printed something.
    Output = 5,
    /// It read its input.
    Input = 6,
    /// It set a timer.
    Timer = 7,
    /// It looked at a clock.
    Clock = 8,
    /// It changed what happens when a child ends.
    ChildSignal = 9,
    /// It made atomic accesses or took locks.
    Events = 10,
}

impl Obstacle {
    /// The obstacle of this number.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let all = [
            Self::Thread,
            Self::Process,
            Self::File,
            Self::SharedMemory,
            Self::Output,
            Self::Input,
            Self::Timer,
            Self::Clock,
            Self::ChildSignal,
            Self::Events,
        ];
        all.into_iter().find(|obstacle| *obstacle as u8 == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obstacle_is_known_by_its_number() {
        for byte in 1..=10 {
            assert_eq!(Obstacle::from_byte(byte).map(|o| o as u8), Some(byte));
        }
        assert_eq!(Obstacle::from_byte(0), None);
        assert_eq!(Obstacle::from_byte(11), None);
    }
}
