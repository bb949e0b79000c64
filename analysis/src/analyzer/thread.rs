//! The state of one running thread, and the slots that threads take in clocks.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::clock::{Clock, EventNumber, ThreadSlot};
use super::id_set::IdSet;
use super::view::{ScSet, View};
use crate::error::StreamError;
use crate::event::{LocationId, ThreadId};
use crate::hash::FxHashMap;
use crate::order::FenceOrder;

/// A thread that runs, or the remains of one whose slot is free.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// The thread that has the slot.
    pub(crate) id: ThreadId,
    /// It has not ended.
    pub(crate) live: bool,
    /// `n`: the number of its last event.
    pub(crate) number: EventNumber,
    /// `ep`: how often its knowledge was published.
    pub(crate) epoch: u32,
    /// The number of the event that last published it.
    published: EventNumber,
    /// `c`: what it knows.
    pub(crate) view: View,
    /// `ax`: what its relaxed reads got, and an acquire fence would add.
    pub(crate) acquirable: View,
    /// `r`: what it knew at its last release fence.
    pub(crate) released: View,
    /// `Q`: what is before it by hb_SC.
    pub(crate) sc_before: Clock,
    /// `PH`: everything psc*-before its own SC events, and what it had from
    /// others' accesses when the current run began.
    pub(crate) own_sc: ScSet,
    /// `pend`: everything psc*-before the last SC access of the current run.
    pub(crate) run_sc: ScSet,
    /// The location of the current run: a stretch of accesses to one location.
    pub(crate) run: Option<LocationId>,
    /// `own_sc` may lack something of what came from others' accesses.
    has_news: bool,
    /// What it waits for, if that is the end of a thread.
    awaits: Option<AwaitedEnd>,
}

/// The end of a thread that another one waits for: what that one does next is to
/// join it.
#[derive(Clone, Debug)]
enum AwaitedEnd {
    /// Of a thread that runs: whoever waits will know at least what it knows.
    Running(ThreadSlot, ThreadId),
    /// Of a thread that has ended.
    Ended(Box<EndedThread>),
}

/// A thread that has ended and that another one is about to join.
#[derive(Clone, Debug)]
struct EndedThread {
    id: ThreadId,
    /// What it has handed on.
    token: Token,
    /// What whoever joins it will know by happens-before.
    known: Clock,
}

impl Thread {
    fn new(id: ThreadId) -> Self {
        Self {
            id,
            live: true,
            number: 0,
            epoch: 0,
            published: 0,
            view: View::default(),
            acquirable: View::default(),
            released: View::default(),
            sc_before: Clock::default(),
            own_sc: ScSet::default(),
            run_sc: ScSet::default(),
            run: None,
            has_news: false,
            awaits: None,
        }
    }

    /// What it will know by happens-before when it next does something; `None` if that
    /// is at least what another live thread knows.
    pub(crate) fn will_know(&self) -> Option<&Clock> {
        match &self.awaits {
            None => Some(&self.view.happened_before),
            Some(AwaitedEnd::Running(..)) => None,
            Some(AwaitedEnd::Ended(ended)) => Some(&ended.known),
        }
    }

    /// The event that was just made publishes what the thread knows.
    #[inline]
    pub(crate) fn has_published(&mut self) {
        self.epoch += 1;
        self.published = self.number;
    }

    /// What the thread's plain accesses are known by from now on: whoever knows an
    /// event with this number or a later one knows them. It changes only when the
    /// thread publishes something, because nobody can know anything in between.
    #[inline]
    pub(crate) fn plain_number(&self) -> EventNumber {
        self.published + 1
    }

    /// The thread goes on to `next` (`None`: an event without location). An SC
    /// access counts for others only once its thread has left its location.
    #[inline]
    pub(crate) fn leave_run(&mut self, next: Option<LocationId>) {
        if next.is_some() && self.run == next {
            return;
        }
        if !self.run_sc.is_empty() {
            let run_sc = core::mem::take(&mut self.run_sc);
            self.view.from_accesses.join(&run_sc);
            self.has_news = true;
        }
        if self.has_news {
            self.own_sc.join(&self.view.from_accesses);
            self.has_news = false;
        }
        self.run = next;
    }

    /// The thread takes in what a message hands on.
    #[inline]
    pub(crate) fn learn(&mut self, message: &View) {
        self.has_news |= self.view.join(message);
    }

    /// The thread passes a fence. An SC fence takes part in psc only: it is no
    /// access, hb_SC does not know it.
    pub(crate) fn fence(&mut self, slot: ThreadSlot, order: FenceOrder) {
        self.number += 1;
        self.leave_run(None);
        if order.acquires() {
            self.has_news |= self.view.join(&self.acquirable);
            self.acquirable.clear();
        }
        self.view.happened_before.set(slot, self.number);
        if order.is_sc() {
            let mut own = self.own_sc.clone();
            own.join(&self.view.for_next_fence);
            own.join(&self.view.from_fences);
            own.add_fence(slot, self.number, &self.view.happened_before);
            self.own_sc = own.clone();
            self.view.from_fences = own;
            self.view.for_next_fence = ScSet::default();
        }
        if order.releases() {
            self.released.copy_from(&self.view);
            self.has_published();
        }
    }
}

/// What a thread hands on outside of atomics: create, exit, unlock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    view: View,
    sc_before: Clock,
}

impl Token {
    /// Adds what another one hands on.
    pub(crate) fn join(&mut self, other: &Self) {
        self.view.join(&other.view);
        self.sc_before.join(&other.sc_before);
    }
}

/// All threads of a run.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    slots: Vec<Thread>,
    states: FxHashMap<ThreadId, ThreadState>,
    /// The threads that ended and were waited for.
    joined: IdSet,
    /// The slots of running threads with small ids, which most have: a look-up
    /// in `states` for every event would be felt.
    running: Vec<Option<u32>>,
    /// How many threads wait for the end of another one.
    waiting: usize,
    /// For each slot the threads that had it, with the first number that was not
    /// their predecessor's; none where threads of the past have no names.
    owners: Option<Vec<Vec<(EventNumber, ThreadId)>>>,
}

/// Where a thread is in its life.
#[derive(Clone, Debug)]
enum ThreadState {
    Running(ThreadSlot),
    Ended(Box<Token>),
}

/// More threads than this that were not joined are refused: every clock has a
/// number for each of them.
const MAX_SLOTS: usize = 1 << 14;

/// Ids below this are small.
const SMALL_ID_LIMIT: u32 = 1 << 10;

impl Threads {
    /// A run with only its main thread. With names, it can be told later which thread
    /// an event was of.
    pub(crate) fn new(with_names: bool) -> Self {
        let main = ThreadId(0);
        Self {
            slots: vec![Thread::new(main)],
            states: FxHashMap::from_iter([(main, ThreadState::Running(0))]),
            joined: IdSet::default(),
            running: vec![Some(0)],
            waiting: 0,
            owners: with_names.then(|| vec![vec![(0, main)]]),
        }
    }

    /// The thread does nothing more before it joins `child`.
    pub(crate) fn await_end(&mut self, id: ThreadId, child: ThreadId) {
        let Ok(slot) = self.slot(id) else {
            return;
        };
        let awaited = match self.states.get(&child) {
            // Two that wait for each other never join.
            Some(ThreadState::Running(child)) if self.leads_to(*child, slot) => return,
            Some(ThreadState::Running(running)) => AwaitedEnd::Running(*running, child),
            Some(ThreadState::Ended(token)) => self.ended_for(slot, child, token),
            None => return,
        };
        self.waiting += usize::from(self.slots[slot].awaits.is_none());
        self.slots[slot].awaits = Some(awaited);
    }

    /// Whether the thread in a slot waits, directly or through others, for another.
    fn leads_to(&self, mut slot: ThreadSlot, other: ThreadSlot) -> bool {
        while slot != other {
            match self.slots[slot].awaits {
                Some(AwaitedEnd::Running(next, _)) => slot = next,
                _ => return false,
            }
        }
        true
    }

    fn ended_for(&self, slot: ThreadSlot, id: ThreadId, token: &Token) -> AwaitedEnd {
        let mut known = self.slots[slot].view.happened_before.clone();
        known.join(&token.view.happened_before);
        let token = token.clone();
        AwaitedEnd::Ended(Box::new(EndedThread { id, token, known }))
    }

    /// The thread goes on, and if it waited for a thread, with joining that one or,
    /// interrupted, with something else. What was forgotten meanwhile it must not be
    /// asked for: then it counts as knowing by happens-before what the other does, so
    /// that less can be stale to it. What SC makes it see stays what it is.
    #[inline]
    pub(crate) fn goes_on(&mut self, slot: ThreadSlot, joins: Option<ThreadId>) {
        if self.waiting > 0 && self.slots[slot].awaits.is_some() {
            self.stop_waiting(slot, joins);
        }
    }

    #[cold]
    fn stop_waiting(&mut self, slot: ThreadSlot, joins: Option<ThreadId>) {
        let Some(awaited) = self.slots[slot].awaits.take() else {
            return;
        };
        self.waiting -= 1;
        let known = match awaited {
            AwaitedEnd::Running(_, child) if joins == Some(child) => return,
            AwaitedEnd::Running(other, _) => {
                // What others have not published is known now, but not what they do
                // from here on.
                self.slots.iter_mut().for_each(Thread::has_published);
                self.view_ahead(other)
            }
            AwaitedEnd::Ended(ended) if joins == Some(ended.id) => return,
            AwaitedEnd::Ended(ended) => ended.token.view,
        };
        self.slots[slot].learn(&known);
    }

    /// What a thread knows, or will when it next does something, if it waits.
    fn view_ahead(&self, mut slot: ThreadSlot) -> View {
        let mut view = self.slots[slot].view.clone();
        loop {
            match &self.slots[slot].awaits {
                None => return view,
                Some(AwaitedEnd::Running(next, _)) => {
                    slot = *next;
                    view.join(&self.slots[slot].view);
                }
                Some(AwaitedEnd::Ended(ended)) => {
                    view.join(&ended.token.view);
                    return view;
                }
            }
        }
    }

    fn token(&self, slot: ThreadSlot) -> Token {
        let thread = &self.slots[slot];
        Token {
            view: thread.view.clone(),
            sc_before: thread.sc_before.clone(),
        }
    }

    /// Those who wait for the end of this thread, which has just come.
    fn tell_waiting(&mut self, ended: ThreadId, token: &Token) {
        for slot in 0..self.slots.len() {
            if matches!(self.slots[slot].awaits, Some(AwaitedEnd::Running(_, id)) if id == ended) {
                self.slots[slot].awaits = Some(self.ended_for(slot, ended, token));
            }
        }
    }

    /// Which thread the event with this number was of, if that is kept; else the one
    /// that has the slot now.
    pub(crate) fn who_was(&self, slot: ThreadSlot, number: EventNumber) -> ThreadId {
        let Some(owners) = &self.owners else {
            return self.slots[slot].id;
        };
        let after = owners[slot].partition_point(|&(first, _)| first <= number);
        owners[slot][after.saturating_sub(1)].1
    }

    /// Whether nothing that any other thread does or did is unknown to this one: all
    /// others have ended, and it has waited for them.
    pub(crate) fn is_alone(&self, slot: ThreadSlot) -> bool {
        let known = &self.slots[slot].view.happened_before;
        let mut others = self.slots.iter().enumerate();
        others.all(|(other, thread)| {
            other == slot || (!thread.live && known.get(other) >= thread.number)
        })
    }

    fn set_running(&mut self, id: ThreadId, slot: Option<ThreadSlot>) {
        if id.0 < SMALL_ID_LIMIT {
            let index = id.0 as usize;
            if index >= self.running.len() {
                self.running.resize(index + 1, None);
            }
            self.running[index] = slot.map(|slot| slot as u32);
        }
    }

    /// The slot of a running thread.
    #[inline]
    pub(crate) fn slot(&self, id: ThreadId) -> Result<ThreadSlot, StreamError> {
        if let Some(Some(slot)) = self.running.get(id.0 as usize) {
            return Ok(*slot as usize);
        }
        match self.states.get(&id) {
            Some(ThreadState::Running(slot)) => Ok(*slot),
            Some(ThreadState::Ended(_)) => Err(StreamError::AfterExit(id)),
            None if self.joined.has(id.0) => Err(StreamError::AfterExit(id)),
            None => Err(StreamError::UnknownThread(id)),
        }
    }

    /// The thread in a slot.
    #[inline]
    pub(crate) fn at(&self, slot: ThreadSlot) -> &Thread {
        &self.slots[slot]
    }

    /// The thread in a slot.
    #[inline]
    pub(crate) fn at_mut(&mut self, slot: ThreadSlot) -> &mut Thread {
        &mut self.slots[slot]
    }

    /// The slots of the threads that have not ended.
    pub(crate) fn live(&self) -> impl Iterator<Item = (ThreadSlot, &Thread)> {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, thread)| thread.live)
    }

    /// How much of `slot` every other live thread knows by happens-before, or will when
    /// it next does something.
    pub(crate) fn known_by_all(&self, slot: ThreadSlot) -> EventNumber {
        self.live()
            .filter(|&(other, _)| other != slot)
            .filter_map(|(_, thread)| thread.will_know())
            .map(|known| known.get(slot))
            .min()
            .unwrap_or(self.slots[slot].number)
    }

    /// An event without location that publishes what the thread knows.
    pub(crate) fn hand_out(&mut self, slot: ThreadSlot) -> Token {
        self.plain_event(slot, None).has_published();
        self.token(slot)
    }

    /// An event without location that takes in what another thread published.
    pub(crate) fn take_in(&mut self, slot: ThreadSlot, token: &Token) {
        self.plain_event(slot, Some(token));
    }

    fn plain_event(&mut self, slot: ThreadSlot, token: Option<&Token>) -> &mut Thread {
        let thread = &mut self.slots[slot];
        thread.number += 1;
        thread.leave_run(None);
        if let Some(token) = token {
            thread.learn(&token.view);
            thread.sc_before.join(&token.sc_before);
        }
        thread.view.happened_before.set(slot, thread.number);
        thread.sc_before.set(slot, thread.number);
        thread
    }

    /// A thread starts another one, which is live from now on.
    pub(crate) fn create(
        &mut self,
        parent: ThreadSlot,
        child: ThreadId,
    ) -> Result<(), StreamError> {
        if self.states.contains_key(&child) || self.joined.has(child.0) {
            return Err(StreamError::ThreadExists(child));
        }
        let reusable = self.reusable_slot(parent);
        if reusable.is_none() && self.slots.len() == MAX_SLOTS {
            return Err(StreamError::TooManyThreads(child));
        }
        let token = self.hand_out(parent);
        let slot = match reusable {
            Some(slot) => {
                let former = &self.slots[slot];
                let (number, epoch) = (former.number, former.epoch + 1);
                self.slots[slot] = Thread {
                    number,
                    epoch,
                    published: number,
                    ..Thread::new(child)
                };
                slot
            }
            None => {
                self.slots.push(Thread::new(child));
                self.slots.len() - 1
            }
        };
        if let Some(owners) = &mut self.owners {
            owners.resize_with(self.slots.len(), Vec::new);
            owners[slot].push((self.slots[slot].number + 1, child));
        }
        self.take_in(slot, &token);
        self.states.insert(child, ThreadState::Running(slot));
        self.set_running(child, Some(slot));
        Ok(())
    }

    /// The slot of an ended thread all of whose events the parent knows: its
    /// numbers can go on for the child, which starts with the same knowledge.
    fn reusable_slot(&self, parent: ThreadSlot) -> Option<ThreadSlot> {
        let knows = &self.slots[parent].view.happened_before;
        self.slots
            .iter()
            .enumerate()
            .position(|(slot, thread)| !thread.live && knows.get(slot) >= thread.number)
    }

    /// A thread's last event.
    pub(crate) fn exit(&mut self, slot: ThreadSlot) {
        let token = self.hand_out(slot);
        let thread = &mut self.slots[slot];
        *thread = Thread {
            live: false,
            number: thread.number,
            epoch: thread.epoch,
            ..Thread::new(thread.id)
        };
        let id = thread.id;
        if self.waiting > 0 {
            self.tell_waiting(id, &token);
        }
        self.states.insert(id, ThreadState::Ended(Box::new(token)));
        self.set_running(id, None);
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn join(&mut self, slot: ThreadSlot, child: ThreadId) -> Result<(), StreamError> {
        match self.states.remove(&child) {
            Some(ThreadState::Ended(token)) => {
                self.joined.insert(child.0);
                self.take_in(slot, &token);
                Ok(())
            }
            Some(running @ ThreadState::Running(_)) => {
                self.states.insert(child, running);
                Err(StreamError::JoinBeforeExit(child))
            }
            None if self.joined.has(child.0) => Err(StreamError::JoinedTwice(child)),
            None => Err(StreamError::UnknownThread(child)),
        }
    }
}
