//! What becomes of plain accesses: they are checked at once, or those are recorded that
//! add something, or all.

use wmfix_analysis::Bytes;

use super::State;
use crate::filter::{AccessFilter, plain, plain_mode, set_plain_mode};
use crate::shadow::NoMemory;
use crate::sys;
use crate::thread::Thread;
use crate::unwind;

impl State {
    /// Begins to leave out what adds nothing.
    pub(crate) fn start_filtering(&mut self, main: &mut Thread) {
        self.alone = true;
        if !self.config.races || !self.recorder.is_on() {
            return;
        }
        set_plain_mode(plain::ALONE);
        if self.online.is_some() {
            return;
        }
        match AccessFilter::new(main) {
            Ok(filter) => self.filter = Some(filter),
            Err(NoMemory) => self.stop_filtering(),
        }
    }

    /// There is no memory for the shadow.
    #[cold]
    pub(super) fn stop_filtering(&mut self) {
        self.filter = None;
        if !self.alone {
            set_plain_mode(plain::ALL);
        }
        sys::say(format_args!(
            "wmfix: no memory to tell which plain accesses matter: all are recorded\n"
        ));
    }

    /// Checks a plain access of the thread that has the turn.
    #[inline(always)]
    pub(crate) fn check_plain(
        &mut self,
        thread: &mut Thread,
        (context, pc): (u32, u64),
        address: u64,
        size: u64,
        writes: bool,
    ) {
        let bytes = Bytes { address, size };
        let Some(online) = &mut self.online else {
            return;
        };
        let outcome = online.plain(&mut self.recorder, context, bytes, writes);
        if thread.epoch_tag == 0 {
            thread.epoch_tag = online.epoch_tag();
        }
        if let Some(site) = outcome.site
            && pc & unwind::FOREIGN == 0
        {
            (self.plain_sites).insert(thread.known_stack(), pc, writes, site);
        }
        if writes && outcome.meets_atomic {
            self.end_locations(address, size);
        }
    }

    /// The thread makes a plain access as it, or another one, did before in the same
    /// context, and nothing can come of it. Whether that is known.
    #[inline(always)]
    pub(crate) fn check_plain_ordered(
        &mut self,
        thread: &Thread,
        bytes: Bytes,
        pc: u64,
        writes: bool,
    ) -> bool {
        let Some(online) = &mut self.online else {
            return false;
        };
        let Some(site) = (self.plain_sites).get(thread.known_stack(), pc, writes) else {
            return false;
        };
        thread.epoch_tag != 0
            && online.plain_ordered(&mut self.recorder, thread.epoch_tag, site, bytes, writes)
    }

    /// Makes a plain access; whether it must be recorded.
    pub(crate) fn plain_access(
        &mut self,
        thread: &Thread,
        address: u64,
        size: u64,
        writes: bool,
    ) -> bool {
        match plain_mode() {
            plain::OFF | plain::ALONE => false,
            plain::FILTERED => match &mut self.filter {
                Some(filter) => {
                    filter
                        .access(thread, address, size, writes)
                        .unwrap_or_else(|NoMemory| {
                            self.stop_filtering();
                            true
                        })
                }
                None => true,
            },
            _ => true,
        }
    }

    /// Gives back what a forked child cannot use.
    pub(crate) fn drop_filter(&mut self) {
        if let Some(filter) = self.filter.take() {
            filter.clear();
        }
    }
}
