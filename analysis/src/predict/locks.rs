//! The critical sections of a run, per lock and per thread, and the closure of
//! a cut: of two sections of one lock that are begun, the first is complete.

use alloc::rc::Rc;
use alloc::vec::Vec;

use smallvec::SmallVec;

use super::cut::{Cut, Reach};
use super::threads::{SectionRef, Stretch, Threads};
use crate::event::LockId;
use crate::hash::FxHashMap;

/// All locks of a run.
#[derive(Debug, Default)]
pub(super) struct Locks {
    numbers: FxHashMap<LockId, u32>,
    all: Vec<Lock>,
    /// What the releases of signals need, by signal.
    signals: FxHashMap<LockId, Cut>,
    /// Sections since some were last forgotten.
    new_sections: usize,
    /// Sections that are remembered.
    sections: usize,
}

#[derive(Debug, Default)]
struct Lock {
    /// Acquisitions so far: a section's number tells which of two came first.
    acquired: u32,
    /// The sections of each thread that has taken it.
    threads: SmallVec<[(usize, Sections); 2]>,
}

/// The sections of one thread on one lock, in their order.
#[derive(Debug, Default)]
struct Sections {
    all: Vec<Section>,
    /// The exclusive ones among them: where they begin, and their numbers.
    exclusive: Vec<(u32, u32)>,
    /// How many have been forgotten.
    forgotten: u32,
    /// How often the thread holds it now.
    depth: u32,
}

/// A critical section.
#[derive(Debug)]
struct Section {
    /// The thread's events up to the acquire.
    begins: u32,
    /// Its place among the acquisitions of the lock.
    turn: u32,
    exclusive: bool,
    /// The release, and what it needs.
    end: Option<(Reach, Rc<Stretch>)>,
}

impl Locks {
    /// A thread has taken a lock with its last event. False if it already had it.
    pub(super) fn acquire(
        &mut self,
        threads: &mut Threads,
        thread: usize,
        id: LockId,
        exclusive: bool,
    ) -> bool {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.all.push(Lock::default());
        }
        let lock = &mut self.all[number as usize];
        lock.acquired += 1;
        let turn = lock.acquired;
        let sections = lock.of_mut(thread);
        sections.depth += 1;
        if sections.depth > 1 {
            return false;
        }
        self.new_sections += 1;
        self.sections += 1;
        let begins = threads.at(thread).events;
        sections.all.push(Section {
            begins,
            turn,
            exclusive,
            end: None,
        });
        if exclusive {
            sections.exclusive.push((begins, turn));
        }
        let section = sections.forgotten + sections.all.len() as u32 - 1;
        let mut holding = threads.at(thread).holding.clone();
        holding.push((number, section));
        threads.hold(thread, holding);
        true
    }

    /// A thread has given a lock back with its last event.
    pub(super) fn release(&mut self, threads: &mut Threads, thread: usize, id: LockId) {
        let Some(&number) = self.numbers.get(&id) else {
            return;
        };
        let sections = self.all[number as usize].of_mut(thread);
        sections.depth = sections.depth.saturating_sub(1);
        if sections.depth > 0 {
            return;
        }
        let mut holding = threads.at(thread).holding.clone();
        let Some(at) = holding.iter().position(|&(lock, _)| lock == number) else {
            return;
        };
        holding.remove(at);
        threads.hold(thread, holding);
        let reach = threads.at(thread).cut.get(thread);
        let last = sections.all.last_mut().expect("a section is open");
        last.end = Some((reach, threads.stretch(thread)));
    }

    /// A signal is given: whoever receives it needs this.
    pub(super) fn signal(&mut self, id: LockId, cut: &Cut) {
        self.signals.entry(id).or_default().join(cut);
    }

    /// What somebody who receives a signal needs.
    pub(super) fn signalled(&self, id: LockId) -> Cut {
        self.signals.get(&id).cloned().unwrap_or_default()
    }

    /// Adds to a cut what it lacks of sections that a later one of the same lock
    /// follows. Stops, and says false, when the cut has more than so many events
    /// of the thread in `unless`.
    pub(super) fn close(
        &self,
        threads: &Threads,
        cut: &mut Cut,
        unless: Option<(usize, u32)>,
    ) -> bool {
        loop {
            let mut grew = false;
            for thread in 0..cut.len() {
                let mut reach = cut.get(thread);
                while reach.holds()
                    && let Some((end, stretch)) = self.overtaken(threads, cut, thread, reach)
                {
                    cut.join(&stretch.cut);
                    cut.raise(thread, *end);
                    if let Some((other, most)) = unless
                        && cut.get(other).events() > most
                    {
                        return false;
                    }
                    grew = true;
                    reach = cut.get(thread);
                }
            }
            if !grew {
                return true;
            }
        }
    }

    /// The end of a section that a thread is in at the edge of the cut, if the
    /// cut has a later section of the same lock that excludes it.
    fn overtaken(
        &self,
        threads: &Threads,
        cut: &Cut,
        thread: usize,
        reach: Reach,
    ) -> Option<&(Reach, Rc<Stretch>)> {
        let held = threads.held_at(thread, reach.events());
        held.iter().find_map(|&(number, section): &SectionRef| {
            let lock = &self.all[number as usize];
            let section = lock.section(thread, section)?;
            if section.turn == lock.acquired {
                return None;
            }
            // A section without an end is one that nobody can follow.
            let end = section.end.as_ref()?;
            let follows = lock.threads.iter().any(|(other, sections)| {
                *other != thread && sections.has_after(section, cut.get(*other).events())
            });
            follows.then_some(end)
        })
    }

    /// Whether there are so many new sections, and as many as there are locks.
    pub(super) fn has_sections(&self, many: usize) -> bool {
        self.new_sections >= many.max(self.all.len())
    }

    /// How many sections are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.sections
    }

    /// Forgets the sections that everybody needs, but for the last of each kind,
    /// which tells that there was one.
    pub(super) fn forget(&mut self, known: &Cut) {
        self.new_sections = 0;
        self.sections = 0;
        for lock in &mut self.all {
            for (thread, sections) in &mut lock.threads {
                sections.forget(known.get(*thread).events());
                self.sections += sections.all.len();
            }
        }
    }
}

impl Lock {
    fn of_mut(&mut self, thread: usize) -> &mut Sections {
        let found = self.threads.iter().position(|(other, _)| *other == thread);
        let at = found.unwrap_or_else(|| {
            self.threads.push((thread, Sections::default()));
            self.threads.len() - 1
        });
        &mut self.threads[at].1
    }

    fn section(&self, thread: usize, section: u32) -> Option<&Section> {
        let (_, sections) = self.threads.iter().find(|(other, _)| *other == thread)?;
        let at = section.checked_sub(sections.forgotten)?;
        sections.all.get(at as usize)
    }
}

impl Sections {
    /// Whether the first `events` events of the thread begin a section that
    /// comes after `section`, a section of another thread, and excludes it.
    fn has_after(&self, section: &Section, events: u32) -> bool {
        let last = if section.exclusive {
            last_up_to(&self.all, events, |section| (section.begins, section.turn))
        } else {
            last_up_to(&self.exclusive, events, |&begun| begun)
        };
        last.is_some_and(|turn| turn > section.turn)
    }

    fn forget(&mut self, events: u32) {
        let ended = |section: &Section| {
            let end = section.end.as_ref();
            end.is_some_and(|(reach, _)| reach.events() <= events)
        };
        let count = self.all.partition_point(ended).saturating_sub(1);
        self.all.drain(..count);
        self.forgotten += count as u32;
        let count = self.exclusive.partition_point(|&(at, _)| at <= events);
        self.exclusive.drain(..count.saturating_sub(1));
    }
}

/// The turn of the last of these that begins within so many events.
fn last_up_to<T>(sections: &[T], events: u32, begun: impl Fn(&T) -> (u32, u32)) -> Option<u32> {
    let (begins, turn) = begun(sections.last()?);
    if begins <= events {
        return Some(turn);
    }
    let after = sections.partition_point(|section| begun(section).0 <= events);
    Some(begun(&sections[after.checked_sub(1)?]).1)
}
