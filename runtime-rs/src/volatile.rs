//! What volatile accesses are taken for: set once at the start, read at every one.

use core::sync::atomic::{AtomicU8, Ordering};

use wmfix_trace::Volatile;

static MEANING: AtomicU8 = AtomicU8::new(Volatile::Ignore as u8);

/// Sets what they are taken for.
pub(crate) fn configure(volatile: Volatile) {
    MEANING.store(volatile as u8, Ordering::Relaxed);
}

/// What they are taken for.
#[inline(always)]
pub(crate) fn meaning() -> Volatile {
    const RELAXED: u8 = Volatile::Relaxed as u8;
    const ACQ_REL: u8 = Volatile::AcqRel as u8;
    match MEANING.load(Ordering::Relaxed) {
        RELAXED => Volatile::Relaxed,
        ACQ_REL => Volatile::AcqRel,
        _ => Volatile::Ignore,
    }
}
