//! The turn under `os` scheduling: a lock that is held for one operation.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

/// The lock.
pub(crate) static GATE: Gate = Gate(AtomicU32::new(0));

/// Looks at the lock before a thread naps.
const SPINS_BEFORE_NAP: u32 = 20;

/// The length of a nap. Meanwhile the thread that has the lock keeps it and what
/// it guards in its processor's cache: two processors that alternate at every
/// operation pay several times as much for each.
const NAP_NS: u32 = 20_000;

/// Free or held.
pub(crate) struct Gate(AtomicU32);

impl Gate {
    #[inline(always)]
    pub(crate) fn lock(&self) {
        if self
            .0
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            self.lock_slow();
        }
    }

    #[cold]
    fn lock_slow(&self) {
        loop {
            for _ in 0..SPINS_BEFORE_NAP {
                if self.0.load(Ordering::Relaxed) == 0
                    && self
                        .0
                        .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok()
                {
                    return;
                }
                core::hint::spin_loop();
            }
            sys::nap(NAP_NS);
        }
    }

    #[inline(always)]
    pub(crate) fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }
}
