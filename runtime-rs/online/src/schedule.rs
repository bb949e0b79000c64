//! Runs with the same schedule have the same number: who had the turn, and what
//! kinds of things they did. Plain accesses do not count: which of them are looked at
//! depends on who looks.

use wmfix_trace::{RecordedOperation, ThreadId};

/// Equal for equal schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleHash(u64);

/// An odd number with well mixed bits (2^64 divided by the golden ratio).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Turns and operations must not be taken for each other.
const FIRST_THREAD: u64 = 64;

impl ScheduleHash {
    /// The turn goes to a thread.
    #[inline]
    pub fn turn(&mut self, thread: ThreadId) {
        self.add(FIRST_THREAD + u64::from(thread.0));
    }

    /// The thread that has the turn does something.
    #[inline]
    pub fn operation(&mut self, operation: &RecordedOperation) {
        if let Some(number) = number(operation) {
            self.add(number);
        }
    }

    /// The number of the schedule so far.
    pub fn finish(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(FACTOR);
        mixed ^ mixed >> 29
    }

    #[inline]
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    }
}

#[inline]
fn number(operation: &RecordedOperation) -> Option<u64> {
    Some(match operation {
        RecordedOperation::Load { .. } => 1,
        RecordedOperation::Store { .. } => 2,
        RecordedOperation::Rmw { .. } => 3,
        RecordedOperation::CompareExchange { .. } => 4,
        RecordedOperation::Fence { .. } => 5,
        RecordedOperation::Create { .. } => 6,
        RecordedOperation::Join { .. } => 7,
        RecordedOperation::Exit => 8,
        RecordedOperation::Acquire { .. } => 9,
        RecordedOperation::Release { .. } => 10,
        RecordedOperation::Birth { .. } => 11,
        RecordedOperation::Free { .. }
        | RecordedOperation::Read { .. }
        | RecordedOperation::Write { .. }
        | RecordedOperation::Reclaim { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_order_is_another_schedule() {
        let of = |threads: &[u32]| {
            let mut hash = ScheduleHash::default();
            for &thread in threads {
                hash.turn(ThreadId(thread));
                hash.operation(&RecordedOperation::Exit);
            }
            hash.finish()
        };
        assert_eq!(of(&[0, 1, 0]), of(&[0, 1, 0]));
        assert_ne!(of(&[0, 1, 0]), of(&[0, 0, 1]));
        assert_ne!(of(&[0, 1]), of(&[0, 1, 0]));
    }
}
