//! Which plain accesses a trace needs. Left out is what cannot change what the
//! analysis finds:
//! - while there is one thread that knows all that others did, everything: it is
//!   ordered before whatever other threads do later;
//! - an access that its thread has made since its last operation on an atomic or
//!   a lock, with nothing in between, and that races with nothing.
//!
//! The first needs no look at memory, the second a comparison with a word of
//! [`crate::shadow`]. The turn is the lock of all this.

use core::sync::atomic::{AtomicU8, Ordering};

use wmfix_trace::RecordedOperation;

use crate::clocks::{ClockSlot, Clocks};
use crate::granules;
use crate::shadow::{self, NoMemory, Shadow};
use crate::sys;
use crate::thread::{Thread, phase};
use crate::tls;

/// What happens to plain accesses.
pub(crate) mod plain {
    /// They are not recorded.
    pub(crate) const OFF: u8 = 0;
    /// All are recorded.
    pub(crate) const ALL: u8 = 1;
    /// Those are recorded that add something.
    pub(crate) const FILTERED: u8 = 2;
    /// There is one thread: none is needed.
    pub(crate) const ALONE: u8 = 3;
    /// They are checked while the program runs.
    pub(crate) const CHECKED: u8 = 4;
    /// They are checked, but what is known is behind what the program does.
    pub(crate) const BEHIND: u8 = 5;
}

/// What happens to plain accesses: one of [`plain`].
static PLAIN: AtomicU8 = AtomicU8::new(plain::OFF);

/// An epoch that would not fit into a cell.
const LAST_EPOCH: u32 = u32::MAX - 8;

/// What happens to plain accesses: one of [`plain`].
#[inline(always)]
pub(crate) fn plain_mode() -> u8 {
    PLAIN.load(Ordering::Relaxed)
}

/// Sets what happens to plain accesses.
pub(crate) fn set_plain_mode(mode: u8) {
    PLAIN.store(mode, Ordering::Relaxed);
}

/// Whether a plain access of the calling thread need not be recorded. Says so
/// only where that is quickly known.
#[inline(always)]
pub(crate) fn needs_no_record(mode: u8, address: u64, size: u64, writes: bool) -> bool {
    let thread = tls::current();
    if thread.is_null() {
        return false;
    }
    if mode == plain::ALONE {
        return true;
    }
    if mode != plain::CHECKED && mode != plain::FILTERED {
        return false;
    }
    // SAFETY: the thread's own record.
    let thread = unsafe { &*thread };
    // One that was preempted must wait to be let in first.
    let covered = thread.phase.load(Ordering::Relaxed) == phase::OUTSIDE
        && if mode == plain::CHECKED {
            granules::covers(thread.epoch_tag, address, size, writes)
        } else {
            shadow::covers(thread.epoch_tag, address, size, writes)
        }
        // What the thread has written and not recorded may hand on all that came before
        // it: then its epoch is over.
        && thread.pending.is_none();
    if covered {
        let steps = thread.steps.load(Ordering::Relaxed);
        thread.steps.store(steps.wrapping_add(1), Ordering::Relaxed);
    }
    covered
}

/// The state behind the decision.
#[derive(Debug)]
pub(crate) struct AccessFilter {
    clocks: Clocks,
    shadow: Shadow,
    /// There was a thread that the clocks do not know.
    has_unknown_thread: bool,
}

impl AccessFilter {
    /// For a process with this one thread.
    pub(crate) fn new(main: &mut Thread) -> Result<Self, NoMemory> {
        let filter = Self {
            clocks: Clocks::new(),
            shadow: Shadow::new()?,
            has_unknown_thread: false,
        };
        main.clock_slot = Some(0);
        filter.set_epoch(main, 0);
        Ok(filter)
    }

    /// Makes a plain access; whether it must be recorded.
    pub(crate) fn access(
        &mut self,
        thread: &Thread,
        address: u64,
        size: u64,
        writes: bool,
    ) -> Result<bool, NoMemory> {
        let Some(slot) = thread.clock_slot else {
            self.shadow.mark_unknown(address, size)?;
            return Ok(true);
        };
        let known = self.clocks.known(slot);
        self.shadow
            .access(address, size, thread.epoch_tag, known, writes)
    }

    /// The bytes hold an atomic object from now on.
    pub(crate) fn mark_atomic(&mut self, address: u64, size: u64) -> Result<(), NoMemory> {
        self.shadow.mark_unknown(address, size)
    }

    /// The memory is given back; whether the trace knows of accesses to it.
    pub(crate) fn forget(&mut self, address: u64, size: u64) -> bool {
        let range = address..address.saturating_add(size);
        self.clocks.forget_locks(range.clone());
        self.shadow.forget(range)
    }

    /// An atomic location has ended.
    pub(crate) fn forget_location(&mut self, location: u32) {
        self.clocks.forget_location(location);
    }

    /// A thread has done something that may order it.
    #[inline]
    pub(crate) fn event(&mut self, thread: &mut Thread, operation: &RecordedOperation) {
        if let Some(slot) = thread.clock_slot {
            self.clocks.event(slot, operation);
            self.set_epoch(thread, slot);
        }
    }

    /// A thread starts another one.
    pub(crate) fn create(&mut self, parent: &mut Thread, child: &mut Thread) {
        child.clock_slot = None;
        if let Some(slot) = parent.clock_slot {
            child.clock_slot = self.clocks.create(slot);
            self.set_epoch(parent, slot);
        }
        match child.clock_slot {
            Some(slot) => self.set_epoch(child, slot),
            None => self.has_unknown_thread = true,
        }
    }

    /// A thread has appeared that nobody started.
    pub(crate) fn meet_unknown_thread(&mut self) {
        self.has_unknown_thread = true;
    }

    /// A thread has ended.
    pub(crate) fn exit(&mut self, thread: &mut Thread) {
        if let Some(slot) = thread.clock_slot {
            self.clocks.exit(slot);
            self.set_epoch(thread, slot);
        }
    }

    /// A thread has waited for the end of another one; whether it is alone now.
    pub(crate) fn join(&mut self, thread: &mut Thread, child: &Thread) -> bool {
        let Some(slot) = thread.clock_slot else {
            return false;
        };
        if let Some(child) = child.clock_slot {
            self.clocks.join(slot, child);
            self.set_epoch(thread, slot);
        }
        !self.has_unknown_thread && self.clocks.is_alone(slot)
    }

    /// Gives the memory back.
    pub(crate) fn clear(mut self) {
        self.shadow.clear();
    }

    fn set_epoch(&self, thread: &mut Thread, slot: ClockSlot) {
        let epoch = self.clocks.epoch(slot);
        thread.epoch_tag = shadow::tag(slot, epoch);
        if epoch == LAST_EPOCH {
            give_up(format_args!("a thread has done too much"));
        }
    }
}

/// Records all plain accesses from now on.
#[cold]
pub(crate) fn give_up(why: core::fmt::Arguments<'_>) {
    set_plain_mode(plain::ALL);
    sys::say(format_args!(
        "wmfix: {why}: every plain access is recorded from now on\n"
    ));
}

#[cfg(test)]
mod tests;
