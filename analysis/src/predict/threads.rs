//! The threads of a run: how far each has come, what its events need, and the
//! stretches in which it neither learnt anything nor took or gave back a lock.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use smallvec::SmallVec;

use super::ThreadPrefix;
use super::cut::{Cut, Reach};
use crate::event::ThreadId;
use crate::hash::FxHashMap;

/// A critical section: the lock's number, and its number among those of its
/// thread and lock.
pub(super) type SectionRef = (u32, u32);

/// All threads, by the order in which they first appeared.
#[derive(Debug)]
pub(super) struct Threads {
    numbers: FxHashMap<ThreadId, usize>,
    all: Vec<Thread>,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: ThreadId,
    /// Its events so far.
    pub(super) events: u32,
    /// Its events and all that they need, closed.
    pub(super) cut: Cut,
    /// The critical sections that it is in.
    pub(super) holding: SmallVec<[SectionRef; 2]>,
    /// The critical sections that it was in after so many events, whenever that
    /// changed.
    held: Vec<(u32, SmallVec<[SectionRef; 2]>)>,
    /// Made when it is first needed.
    stretch: Option<Rc<Stretch>>,
    learnt: bool,
    ended: bool,
}

/// What all events of a stretch have in common.
#[derive(Debug)]
pub(super) struct Stretch {
    /// What they need, apart from each other.
    pub(super) cut: Cut,
    /// Whether the thread holds a lock.
    pub(super) holds: bool,
    /// By thread: its next event needs as many events of this one, so none
    /// before that can be the last.
    too_early: RefCell<SmallVec<[u32; 4]>>,
}

impl Stretch {
    /// Whether an event after `before` others cannot stay out of what the next
    /// event of `thread` needs.
    pub(super) fn is_dead(&self, thread: usize, before: u32) -> bool {
        let too_early = self.too_early.borrow();
        too_early.get(thread).is_some_and(|&least| before < least)
    }

    /// The next event of `thread` needs this many events.
    pub(super) fn bury(&self, thread: usize, least: u32) {
        let mut too_early = self.too_early.borrow_mut();
        if too_early.len() <= thread {
            too_early.resize(thread + 1, 0);
        }
        too_early[thread] = too_early[thread].max(least);
    }
}

impl Threads {
    pub(super) fn new() -> Self {
        Self {
            numbers: FxHashMap::default(),
            all: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn at(&self, thread: usize) -> &Thread {
        &self.all[thread]
    }

    /// The number of a thread.
    pub(super) fn number(&mut self, id: ThreadId) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.all.push(Thread {
                id,
                events: 0,
                cut: Cut::default(),
                holding: SmallVec::new(),
                held: Vec::new(),
                stretch: None,
                learnt: false,
                ended: false,
            });
        }
        number
    }

    /// The thread has one more event.
    pub(super) fn advance(&mut self, thread: usize) {
        let own = &mut self.all[thread];
        own.events += 1;
        let reach = Reach::new(own.events, !own.holding.is_empty());
        own.cut.raise(thread, reach);
    }

    /// A thread starts another one: nothing of that one comes before.
    pub(super) fn create(&mut self, thread: usize, child: ThreadId) {
        let child = self.number(child);
        let cut = self.all[thread].cut.clone();
        self.learn(child, &cut);
    }

    /// The thread has had its last event.
    pub(super) fn end(&mut self, thread: usize) {
        self.all[thread].ended = true;
    }

    /// The thread's events need these.
    pub(super) fn learn(&mut self, thread: usize, cut: &Cut) {
        let own = &mut self.all[thread];
        own.cut.join(cut);
        own.learnt = true;
        own.stretch = None;
    }

    /// The thread's events need another one's first `at` events.
    pub(super) fn learn_of(&mut self, thread: usize, other: usize, at: u32, stretch: &Stretch) {
        let own = &mut self.all[thread];
        own.cut.join(&stretch.cut);
        own.cut.raise(other, Reach::new(at, stretch.holds));
        own.learnt = true;
        own.stretch = None;
    }

    /// Whether the thread has learnt anything since its cut was last closed.
    pub(super) fn has_learnt(&self, thread: usize) -> bool {
        self.all[thread].learnt
    }

    pub(super) fn take_cut(&mut self, thread: usize) -> Cut {
        core::mem::take(&mut self.all[thread].cut)
    }

    pub(super) fn put_cut(&mut self, thread: usize, cut: Cut) {
        self.all[thread].cut = cut;
        self.all[thread].learnt = false;
    }

    /// The stretch that the thread is in.
    pub(super) fn stretch(&mut self, thread: usize) -> Rc<Stretch> {
        let own = &mut self.all[thread];
        let stretch = own.stretch.get_or_insert_with(|| {
            Rc::new(Stretch {
                cut: own.cut.clone(),
                holds: !own.holding.is_empty(),
                too_early: RefCell::default(),
            })
        });
        Rc::clone(stretch)
    }

    /// The thread has entered or left a critical section with its last event.
    pub(super) fn hold(&mut self, thread: usize, holding: SmallVec<[SectionRef; 2]>) {
        let own = &mut self.all[thread];
        own.held.push((own.events, holding.clone()));
        own.holding = holding;
        own.stretch = None;
        // The same events; only what is held after the last of them is new.
        let reach = Reach::new(own.events, !own.holding.is_empty());
        own.cut.replace(thread, reach);
    }

    /// The critical sections that a thread is in after so many events.
    pub(super) fn held_at(&self, thread: usize, events: u32) -> &[SectionRef] {
        let held = &self.all[thread].held;
        let after = held.partition_point(|&(at, _)| at <= events);
        match after.checked_sub(1) {
            Some(last) => &held[last].1,
            None => &[],
        }
    }

    /// Everything that has happened.
    pub(super) fn everything(&self) -> Cut {
        let mut cut = Cut::default();
        for (number, thread) in self.all.iter().enumerate() {
            let reach = Reach::new(thread.events, !thread.holding.is_empty());
            cut.raise(number, reach);
        }
        cut
    }

    /// A cut by the names of the threads.
    pub(super) fn named(&self, cut: &Cut) -> Vec<ThreadPrefix> {
        let reached = (0..cut.len()).map(|number| ThreadPrefix {
            thread: self.all[number].id,
            events: cut.get(number).events(),
        });
        reached.filter(|prefix| prefix.events > 0).collect()
    }

    /// By thread, the events that every other thread needs from now on.
    pub(super) fn known_to_all(&self) -> Cut {
        let mut known = Cut::default();
        for of in 0..self.all.len() {
            let others = self.all.iter().enumerate();
            let others = others.filter(|&(number, other)| number != of && !other.ended);
            let least = others.map(|(_, other)| other.cut.get(of)).min();
            known.raise(of, least.unwrap_or_default());
        }
        known
    }

    /// Forgets what was held before the events that everybody needs.
    pub(super) fn forget(&mut self, known: &Cut) {
        for (number, thread) in self.all.iter_mut().enumerate() {
            let events = known.get(number).events();
            let after = thread.held.partition_point(|&(at, _)| at <= events);
            thread.held.drain(..after.saturating_sub(1));
        }
    }
}
