//! The turn under `os` scheduling: a lock that is held for one operation.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

/// The lock.
pub(crate) static GATE: Gate = Gate(AtomicU32::new(0));

/// How often a thread looks before it sleeps.
const LOOKS: u32 = 100;

/// Free, held, or held and awaited.
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
        for _ in 0..LOOKS {
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
        while self.0.swap(2, Ordering::Acquire) != 0 {
            sys::futex_wait(&self.0, 2, None);
        }
    }

    #[inline(always)]
    pub(crate) fn unlock(&self) {
        if self.0.swap(0, Ordering::Release) == 2 {
            sys::futex_wake(&self.0);
        }
    }
}
