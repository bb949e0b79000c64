//! Threads that wait until another one lets them go on, by a signal to a condition or
//! a futex: which of them that is, and what an exploration is told of it.

use alloc::vec::Vec;

use wmfix_trace::{SyncKind, WaitsFor};

use super::Held;
use crate::strategy::Kind;

/// The address of what threads wait at.
fn object_of(what: WaitsFor) -> u64 {
    match what {
        WaitsFor::Condition(address) | WaitsFor::Futex(address) => address,
        _ => 0,
    }
}

impl Held {
    /// Waits until another thread lets this one go on; true if the time came first.
    pub(crate) fn wait_to_be_let(
        &mut self,
        context: u32,
        what: WaitsFor,
        deadline: Option<u64>,
    ) -> bool {
        let me = self.thread().id;
        self.state().scheduler.entry(me).waits += 1;
        self.wait(context, what, deadline)
    }

    /// Tells an exploration that this thread goes on because another one let it.
    pub(crate) fn was_let(&mut self, context: u32) {
        let me = self.thread().id;
        let round = self.state().scheduler.entry(me).waits;
        self.sync(context, SyncKind::Learn, u64::from(me), round);
    }

    /// Waits where all runs are explored and the time may be over at any step: the next
    /// one of this thread finds out whether it was let go on before. True if not.
    pub(crate) fn wait_impatiently(&mut self, object: u64, context: u32) -> bool {
        let me = self.thread().id;
        self.state().scheduler.impatient.push((object, me));
        self.point(Kind::Operation);
        let waiting = &mut self.state().scheduler.impatient;
        let before = waiting.len();
        waiting.retain(|&one| one != (object, me));
        let too_late = waiting.len() < before;
        self.sync(context, SyncKind::Change, object, 0);
        too_late
    }

    /// Lets at most so many go on of those who wait for this; how many.
    pub(crate) fn let_go_on(&mut self, what: WaitsFor, most: usize, context: u32) -> usize {
        let object = object_of(what);
        self.sync(context, SyncKind::Change, object, 0);
        let scheduler = &mut self.state().scheduler;
        let mut waiters = scheduler.waiting(what);
        let impatient = scheduler.impatient.iter();
        waiters.extend(impatient.filter(|one| one.0 == object).map(|one| one.1));
        if waiters.len() > most {
            // Which of them is woken is a choice that is not explored.
            self.unexplored(context);
        }
        let mut woken = Vec::new();
        if most == usize::MAX {
            woken.append(&mut waiters);
        }
        while woken.len() < most && !waiters.is_empty() {
            let one = self.state().scheduler.pick(&waiters);
            waiters.retain(|&waiter| waiter != one);
            woken.push(one);
        }
        for &waiter in &woken {
            let scheduler = &mut self.state().scheduler;
            scheduler.impatient.retain(|one| one.1 != waiter);
            scheduler.wake(waiter);
            let round = scheduler.entry(waiter).waits;
            self.sync(context, SyncKind::Publish, u64::from(waiter), round);
        }
        woken.len()
    }
}
