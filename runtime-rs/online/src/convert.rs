//! Recorded operations → the operations that the analysis takes.

use wmfix_analysis::{
    Bytes, CasOutcome, CasStrength, LocationId, LockId, LockMode, Operation, ThreadId,
};
use wmfix_trace::{self as trace, RecordedOperation};

use crate::operands::Round;
use crate::orders::{of_fence, of_load, of_rmw, of_store};
use crate::table::SiteRole;
use crate::waits::WaitRole;

/// The number that stands for a value of up to 16 bytes: the analysis compares
/// values of 8. Itself if it fits; else a mixture of its halves, which two values
/// have in common about never.
#[inline]
pub fn narrow(value: u128) -> u64 {
    match u64::try_from(value) {
        Ok(value) => value,
        Err(_) => mixed_halves(value),
    }
}

#[cold]
fn mixed_halves(value: u128) -> u64 {
    /// Leaves the small numbers, which programs compare with, to small values.
    const WIDE: u64 = 1 << 63;
    let (low, high) = (value as u64, (value >> 64) as u64);
    let mixed = (high.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ low.rotate_left(32))
        .wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 32 | WIDE
}

/// What an operation is to the analysis, but for what the text says about waiting;
/// `None` for what is nothing to it: a relaxed fence.
#[inline]
pub fn of_operation(operation: &RecordedOperation) -> Option<Operation> {
    use RecordedOperation as From;
    Some(match *operation {
        From::Load {
            location,
            order,
            value,
        } => Operation::Load {
            location: LocationId(location.0),
            order: of_load(order),
            value: narrow(value),
            exit: None,
        },
        From::Store {
            location,
            order,
            value,
        } => Operation::Store {
            location: LocationId(location.0),
            order: of_store(order),
            value: narrow(value),
        },
        From::Rmw {
            location,
            order,
            read,
            written,
            ..
        } => Operation::Rmw {
            location: LocationId(location.0),
            order: of_rmw(order),
            read: narrow(read),
            written: narrow(written),
            exit: None,
        },
        From::CompareExchange {
            location,
            success,
            failure,
            weak,
            expected,
            read,
            written,
        } => Operation::CompareExchange {
            location: LocationId(location.0),
            success: of_rmw(success),
            failure: of_load(failure),
            strength: if weak {
                CasStrength::Weak
            } else {
                CasStrength::Strong
            },
            expected: narrow(expected),
            read: narrow(read),
            outcome: match written {
                Some(value) => CasOutcome::Exchanged(narrow(value)),
                None => CasOutcome::Failed,
            },
            blocking: false,
        },
        From::Fence { order } => Operation::Fence {
            order: of_fence(order)?,
        },
        From::Create { child, .. } => Operation::Create {
            child: ThreadId(child.0),
        },
        From::Join { child } => Operation::Join {
            child: ThreadId(child.0),
        },
        From::Exit => Operation::Exit,
        From::Acquire { lock, mode } => Operation::Acquire {
            lock: LockId(lock),
            mode: of_mode(mode),
        },
        From::Release { lock, mode } => Operation::Release {
            lock: LockId(lock),
            mode: of_mode(mode),
        },
        From::Birth {
            location,
            address,
            size,
            value,
        } => Operation::Birth {
            location: LocationId(location.0),
            bytes: Bytes {
                address,
                size: u64::from(size),
            },
            value: narrow(value),
        },
        From::Free { address, size } | From::Reclaim { address, size } => Operation::Death {
            bytes: Bytes { address, size },
        },
        From::Read { address, size } => Operation::Read {
            bytes: Bytes { address, size },
        },
        From::Write { address, size } => Operation::Write {
            bytes: Bytes { address, size },
        },
    })
}

/// Of memory that is given back, so many bytes count as written.
const MOST_FREED_BYTES: u64 = 64 << 10;

/// The operation that comes before memory is given back: nobody may access it from
/// here on, as if all of it were written.
#[inline]
pub fn write_of_free(operation: &RecordedOperation) -> Option<Operation> {
    match *operation {
        RecordedOperation::Free { address, size } => {
            let size = size.min(MOST_FREED_BYTES);
            let bytes = Bytes { address, size };
            Some(Operation::Write { bytes })
        }
        _ => None,
    }
}

/// Adds what the text says about waiting to an operation on a location of `size`
/// bytes.
#[inline]
pub fn add_waits(operation: &mut Operation, waits: WaitRole, size: u8) {
    match operation {
        Operation::Load { exit, .. } => {
            *exit = waits.exit.and_then(|exit| exit.at_width(size));
        }
        Operation::Rmw { exit, written, .. } => {
            *exit = waits.exit.and_then(|exit| exit.of_write(*written, size));
        }
        Operation::CompareExchange { blocking, .. } => *blocking = waits.blocking,
        _ => {}
    }
}

/// What an operation on a location of `size` bytes is for the loops that wait.
pub fn round_of<'k>(operation: &Operation, role: &'k SiteRole, size: u8) -> Round<'k> {
    use Operation::{Birth, Death, Fence, Load, Read, Rmw, Write};
    let waits = role.waits.exit.is_some() || role.waits.open.is_some();
    match (*operation, &role.watch) {
        (Load { value, .. } | Rmw { read: value, .. }, Some(watch)) => {
            Round::Read(watch, value, size)
        }
        (Load { .. } | Rmw { .. }, None) if waits => Round::Within,
        // A part of the operation that is a barrier, too.
        (Fence { .. }, _) if role.is_full_barrier => Round::Within,
        (Birth { .. } | Death { .. } | Read { .. } | Write { .. }, _) => Round::Within,
        _ => Round::Outside(role.text),
    }
}

fn of_mode(mode: trace::LockMode) -> LockMode {
    match mode {
        trace::LockMode::Exclusive => LockMode::Exclusive,
        trace::LockMode::Shared => LockMode::Shared,
        trace::LockMode::Signal => LockMode::Signal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_values_stay_apart_from_each_other_and_from_small_ones() {
        assert_eq!(narrow(7), 7);
        assert_eq!(narrow(u128::from(u64::MAX)), u64::MAX);
        let wide: alloc::vec::Vec<u64> = (1u128..1000).map(|high| narrow(high << 64 | 7)).collect();
        for (at, value) in wide.iter().enumerate() {
            assert!(*value > 1 << 62 && !wide[..at].contains(value));
        }
    }
}
