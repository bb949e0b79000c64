//! How much memory the traces take that are being read at the same time, all of them
//! together: a run waits until there is room for it, and one for which there never will
//! be is not read.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// What a byte of a trace takes where it is read: an event of four to twelve bytes
/// becomes some dozens, and what the analysis keeps about it is as much again.
const BYTES_FOR_A_BYTE: u64 = 16;

/// How long an interrupt may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is taken, in bytes. The memory is the process's, and so is this.
static TAKEN: Mutex<u64> = Mutex::new(0);
static GIVEN_BACK: Condvar = Condvar::new();

/// Memory for the traces of a run, until it is dropped.
#[derive(Debug)]
pub(super) struct TraceMemory {
    bytes: u64,
}

/// Why there is no memory for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMemory {
    /// It needs more than there may be.
    TooLarge,
    /// Nobody wants to know any more.
    GivenUp,
}

impl TraceMemory {
    /// Waits for the memory to read traces of this size with; at most `limit` bytes are
    /// taken at a time.
    pub(super) fn take(
        trace_bytes: u64,
        limit: u64,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Self, NoMemory> {
        let bytes = trace_bytes.saturating_mul(BYTES_FOR_A_BYTE);
        if bytes > limit {
            return Err(NoMemory::TooLarge);
        }
        let mut taken = TAKEN.lock().expect("no panic while locked");
        while taken.saturating_add(bytes) > limit && *taken > 0 {
            if given_up() {
                return Err(NoMemory::GivenUp);
            }
            let waited = GIVEN_BACK.wait_timeout(taken, LOOK_EVERY);
            taken = waited.expect("no panic while locked").0;
        }
        *taken = taken.saturating_add(bytes);
        Ok(Self { bytes })
    }
}

impl Drop for TraceMemory {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().expect("no panic while locked");
        *taken = taken.saturating_sub(self.bytes);
        GIVEN_BACK.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_never_fits_is_refused_and_others_wait_for_room() {
        // Others of this process may take some, too: far less than this.
        let limit = 1 << 40;
        let half = limit / BYTES_FOR_A_BYTE / 2;
        let refused = TraceMemory::take(3 * half, limit, &|| false);
        assert_eq!(refused.unwrap_err(), NoMemory::TooLarge);
        let first = TraceMemory::take(half, limit, &|| false).unwrap();
        let second = TraceMemory::take(half + 1, limit, &|| true);
        assert_eq!(second.unwrap_err(), NoMemory::GivenUp);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| TraceMemory::take(half + 1, limit, &|| false).is_ok());
            drop(first);
            assert!(waiting.join().unwrap());
        });
    }
}
