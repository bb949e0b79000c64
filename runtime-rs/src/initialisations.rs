//! Things of the program that are being initialised once (`pthread_once`, C++'s
//! local statics): who does it, and whether an exception has ended it.

use alloc::vec::Vec;
use core::ffi::c_int;

use wmfix_trace::WaitsFor;

use crate::scheduler::Scheduler;

/// An initialisation under way.
#[derive(Debug)]
pub(crate) struct Initialisation {
    pub(crate) address: u64,
    pub(crate) thread: u32,
    /// Whether it is that of a `pthread_once`: such a one may end by an
    /// exception, of which only the control word tells.
    pub(crate) by_control_word: bool,
}

/// The bit of a control word that the library sets while a routine runs.
const RUNNING: c_int = 1;
/// The value that it leaves when all is done.
pub(crate) const DONE: c_int = 2;

impl Initialisation {
    /// Whether an exception has ended it.
    pub(crate) fn abandoned(&self) -> bool {
        // SAFETY: the control word of an initialisation that somebody waits for.
        self.by_control_word
            && unsafe { (self.address as *const c_int).read_volatile() } & RUNNING == 0
    }
}

/// Wakes those who wait for an initialisation that an exception has ended; true
/// if there was one.
pub(crate) fn end_abandoned(
    under_way: &mut Vec<Initialisation>,
    scheduler: &mut Scheduler,
) -> bool {
    let before = under_way.len();
    under_way.retain(|one| {
        if one.abandoned() {
            scheduler.wake_all(WaitsFor::Lock(one.address));
        }
        !one.abandoned()
    });
    under_way.len() < before
}
