//! The published way to detect violations of robustness: location clocks (RSan,
//! Lahav, Margalit et al., appendix A), as the slow rival of the analysis. Its
//! model is the paper's RC20, in which an SC fence is an acquire fence, an RMW of
//! a shared location and a release fence, and an SC access only acquires and
//! releases.
//!
//! Where this differs from the printed algorithm:
//! 1. `W(x) := T_r(τ)` keeps x's own timestamp, and reads advance `T_c(x)` too:
//!    as printed, robust programs are reported.
//! 2. The clocks that count only the writes that are not RMWs, and those that
//!    count overwritten values, are derived from a log of the writes of each
//!    location. This can only make the rival faster.
//! 3. Clocks are sorted arrays of pairs, as the paper says of its tool, but are
//!    merged in one pass, where the tool sorts again.

mod clock;

use std::collections::HashMap;

use wmfix_analysis::{
    CasOutcome, CasStrength, Event, FenceOrder, LocationId, LockId, LoopExit, Operation, ThreadId,
};

use clock::LocationClock;

/// The state of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    threads: HashMap<ThreadId, Thread>,
    locations: HashMap<LocationId, Location>,
    /// The location that SC fences share.
    fence: Location,
    locks: HashMap<LockId, Knowledge>,
}

/// What a thread hands on over an edge that is not an access.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    happened_before: LocationClock,
    sc_before: LocationClock,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// T_SC
    sc_before: LocationClock,
    /// T_c
    happened_before: LocationClock,
    /// T_a
    acquirable: LocationClock,
    /// T_r
    released: LocationClock,
}

#[derive(Clone, Debug)]
struct Location {
    /// W_SC
    written: LocationClock,
    /// M_SC
    accessed: LocationClock,
    /// W
    message: LocationClock,
    /// The writes so far, the first value included.
    log: Vec<LoggedWrite>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedWrite {
    value: u64,
    is_rmw: bool,
    /// How many writes that are not RMWs there are up to here.
    stores: u32,
}

impl Default for Location {
    fn default() -> Self {
        Self {
            written: LocationClock::default(),
            accessed: LocationClock::default(),
            message: LocationClock::default(),
            log: vec![LoggedWrite {
                value: 0,
                is_rmw: false,
                stores: 0,
            }],
        }
    }
}

/// An access, as far as the clocks care.
#[derive(Clone, Copy)]
struct Access {
    location: u32,
    reads: bool,
    /// The value written, if it writes.
    writes: Option<u64>,
    acquires: bool,
    releases: bool,
}

/// What makes a stale write dangerous.
#[derive(Clone, Copy)]
enum Check {
    Read,
    Write,
    Wait(LoopExit),
    Cas { expected: u64, blocking: bool },
}

/// The shared location of the fences has no number of its own.
const FENCE: u32 = u32::MAX;

impl Reference {
    /// Takes the next event and gives back the writes, by their place in the
    /// order of writes to the location, that the access could wrongly take.
    pub fn feed(&mut self, event: &Event) -> Vec<usize> {
        let thread = event.thread;
        match event.operation {
            Operation::Fence { order } => self.fence(thread, order),
            Operation::Create { child } => {
                let knowledge = self.hand_out(thread);
                self.take_in(child, &knowledge);
            }
            Operation::Join { child } => {
                let knowledge = self.hand_out(child);
                self.take_in(thread, &knowledge);
            }
            Operation::Release { lock, .. } => {
                let knowledge = self.hand_out(thread);
                let held = self.locks.entry(lock).or_default();
                held.happened_before.join(&knowledge.happened_before);
                held.sc_before.join(&knowledge.sc_before);
            }
            Operation::Acquire { lock, .. } => {
                let knowledge = self.locks.entry(lock).or_default().clone();
                self.take_in(thread, &knowledge);
            }
            _ => {
                let Some((access, check, is_event)) = access_of(&event.operation) else {
                    return Vec::new();
                };
                let stale = self.check(thread, access.location, check);
                if is_event {
                    self.access(thread, access);
                }
                return stale;
            }
        }
        Vec::new()
    }

    fn check(&mut self, thread: ThreadId, location: u32, check: Check) -> Vec<usize> {
        let thread = self.threads.entry(thread).or_default();
        let known = thread.happened_before.get(location) as usize;
        let newest = thread.sc_before.get(location) as usize;
        if known >= newest {
            return Vec::new();
        }
        let log = &self.locations.entry(LocationId(location)).or_default().log;
        // An RMW cannot be split from the write it follows.
        let free = |place: usize| !log[place + 1].is_rmw;
        let takes = |place: &usize| {
            let value = log[*place].value;
            match check {
                Check::Read => true,
                Check::Write => free(*place),
                Check::Wait(exit) => exit.leaves(value),
                Check::Cas { expected, blocking } => {
                    if value == expected {
                        free(*place)
                    } else {
                        !blocking
                    }
                }
            }
        };
        // What the paper asks first: is there any write in between that is not an RMW.
        if matches!(check, Check::Write) && log[known].stores == log[newest].stores {
            return Vec::new();
        }
        (known..newest).filter(takes).collect()
    }

    fn access(&mut self, thread: ThreadId, access: Access) {
        let thread = self.threads.entry(thread).or_default();
        let x = access.location;
        let location = match x {
            FENCE => &mut self.fence,
            _ => self.locations.entry(LocationId(x)).or_default(),
        };
        if let Some(value) = access.writes {
            let last = *location.log.last().expect("the first value is there");
            location.log.push(LoggedWrite {
                value,
                is_rmw: access.reads,
                stores: last.stores + u32::from(!access.reads),
            });
        }
        let newest = (location.log.len() - 1) as u32;
        if access.writes.is_some() {
            location.accessed.set(x, newest);
            thread.sc_before.join(&location.accessed);
            location.accessed.copy_from(&thread.sc_before);
            location.written.copy_from(&thread.sc_before);
        } else {
            thread.sc_before.join(&location.written);
            location.accessed.join(&thread.sc_before);
        }
        thread.happened_before.set(x, newest);
        thread.acquirable.set(x, newest);
        if access.reads {
            thread.acquirable.join(&location.message);
            if access.acquires {
                thread.happened_before.join(&location.message);
            }
        }
        if access.writes.is_some() {
            let published = if access.releases {
                &thread.happened_before
            } else {
                &thread.released
            };
            if access.reads {
                location.message.join(published);
            } else {
                location.message.copy_from(published);
            }
            location.message.set(x, newest);
        }
    }

    fn fence(&mut self, thread: ThreadId, order: FenceOrder) {
        let state = self.threads.entry(thread).or_default();
        if order.acquires() {
            state.happened_before.copy_from(&state.acquirable);
        }
        if order.is_sc() {
            let shared = Access {
                location: FENCE,
                reads: true,
                writes: Some(0),
                acquires: true,
                releases: true,
            };
            self.access(thread, shared);
        }
        let state = self.threads.entry(thread).or_default();
        if order.releases() {
            state.released.copy_from(&state.happened_before);
        }
    }

    fn hand_out(&mut self, thread: ThreadId) -> Knowledge {
        let state = self.threads.entry(thread).or_default();
        Knowledge {
            happened_before: state.happened_before.clone(),
            sc_before: state.sc_before.clone(),
        }
    }

    fn take_in(&mut self, thread: ThreadId, knowledge: &Knowledge) {
        let state = self.threads.entry(thread).or_default();
        state.happened_before.join(&knowledge.happened_before);
        state.acquirable.join(&knowledge.happened_before);
        state.sc_before.join(&knowledge.sc_before);
    }
}

/// The access, how it is checked, and whether it is an event at all: a round
/// that stays in its loop is none.
fn access_of(operation: &Operation) -> Option<(Access, Check, bool)> {
    Some(match *operation {
        Operation::Load {
            location,
            order,
            value,
            exit,
        } => {
            let access = Access {
                location: location.0,
                reads: true,
                writes: None,
                acquires: order.acquires(),
                releases: false,
            };
            let check = exit.map_or(Check::Read, Check::Wait);
            (access, check, exit.is_none_or(|e| e.leaves(value)))
        }
        Operation::Store {
            location,
            order,
            value,
        } => {
            let access = Access {
                location: location.0,
                reads: false,
                writes: Some(value),
                acquires: false,
                releases: order.releases(),
            };
            (access, Check::Write, true)
        }
        Operation::Rmw {
            location,
            order,
            written,
            ..
        } => {
            let access = Access {
                location: location.0,
                reads: true,
                writes: Some(written),
                acquires: order.acquires(),
                releases: order.releases(),
            };
            (access, Check::Write, true)
        }
        Operation::CompareExchange {
            location,
            success,
            failure,
            strength,
            expected,
            outcome,
            blocking,
            ..
        } => {
            let (writes, acquires, releases) = match outcome {
                CasOutcome::Exchanged(value) => {
                    (Some(value), success.acquires(), success.releases())
                }
                CasOutcome::Failed => (None, failure.acquires(), false),
            };
            let access = Access {
                location: location.0,
                reads: true,
                writes,
                acquires,
                releases,
            };
            let check = match strength {
                // It may fail on any value.
                CasStrength::Weak => Check::Read,
                CasStrength::Strong => Check::Cas { expected, blocking },
            };
            (access, check, writes.is_some() || !blocking)
        }
        _ => return None,
    })
}
