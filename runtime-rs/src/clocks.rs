//! Happens-before while the program runs, for deciding which plain accesses a
//! trace needs: a vector clock for each thread, for what each atomic location
//! hands on, and for each lock. The same rules as the analysis has for
//! happens-before; what it has for sequential consistency is not needed here.
//!
//! One difference is deliberate: a read of a waiting loop that stays in the loop
//! counts here, because only the source text says which reads those are. Clocks
//! may therefore know a little more than the analysis. That never hides the
//! first access of a thread between two of its operations, which is always
//! recorded.
//!
//! Release sequences are C++20's, whatever the run is judged by: of every rule they order
//! the least, so that what is left out adds nothing by the others either.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wmfix_trace::{LockMode, Order, RecordedOperation};

/// The position of a thread in the clocks. Ended threads give theirs back.
pub(crate) type ClockSlot = usize;

/// More threads at once than this are not told apart.
const MAX_CLOCK_SLOTS: usize = (1 << 12) - 1;

/// How many slots a clock holds without memory of its own.
const SLOTS_IN_PLACE: usize = 8;

/// How far each thread is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    first: [u32; SLOTS_IN_PLACE],
    rest: Vec<u32>,
}

impl Clock {
    #[inline]
    pub(crate) fn get(&self, slot: ClockSlot) -> u32 {
        match self.first.get(slot) {
            Some(&number) => number,
            None => self
                .rest
                .get(slot - SLOTS_IN_PLACE)
                .copied()
                .unwrap_or_default(),
        }
    }

    #[inline]
    fn set(&mut self, slot: ClockSlot, number: u32) {
        if let Some(first) = self.first.get_mut(slot) {
            *first = number;
            return;
        }
        let index = slot - SLOTS_IN_PLACE;
        if index >= self.rest.len() {
            self.rest.resize(index + 1, 0);
        }
        self.rest[index] = number;
    }

    #[inline]
    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.first.iter_mut().zip(&other.first) {
            *mine = (*mine).max(*theirs);
        }
        if other.rest.len() > self.rest.len() {
            self.rest.resize(other.rest.len(), 0);
        }
        for (mine, theirs) in self.rest.iter_mut().zip(&other.rest) {
            *mine = (*mine).max(*theirs);
        }
    }

    #[inline]
    fn copy_from(&mut self, other: &Self) {
        self.first = other.first;
        self.rest.clear();
        self.rest.extend_from_slice(&other.rest);
    }
}

/// What a thread knows, or knew when it ended.
#[derive(Debug, Default)]
struct ThreadClock {
    live: bool,
    /// The number of its last operation.
    number: u32,
    known: Clock,
    /// What its relaxed reads got: an acquire fence adds it.
    acquirable: Clock,
    /// What it knew at its last release fence.
    released: Clock,
}

/// What a lock hands on.
#[derive(Debug, Default)]
struct LockClock {
    from_owners: Clock,
    from_readers: Clock,
    from_signals: Clock,
}

/// The clocks of all threads.
#[derive(Debug)]
pub(crate) struct Clocks {
    threads: Vec<ThreadClock>,
    /// What the last write to each location hands on: an index into `messages`,
    /// or none while that is nothing.
    message_of: Vec<u32>,
    messages: Vec<Clock>,
    free_messages: Vec<u32>,
    locks: BTreeMap<u64, LockClock>,
}

const NO_MESSAGE: u32 = u32::MAX;

impl Clocks {
    /// Those of a process with one thread, in slot 0.
    pub(crate) fn new() -> Self {
        let main = ThreadClock {
            live: true,
            ..ThreadClock::default()
        };
        Self {
            threads: Vec::from([main]),
            message_of: Vec::new(),
            messages: Vec::new(),
            free_messages: Vec::new(),
            locks: BTreeMap::new(),
        }
    }

    /// The number that the next operation of a thread will have: whoever knows
    /// that knows what the thread does until then.
    #[inline]
    pub(crate) fn epoch(&self, slot: ClockSlot) -> u32 {
        self.threads[slot].number + 1
    }

    /// What a thread knows.
    #[inline]
    pub(crate) fn known(&self, slot: ClockSlot) -> &Clock {
        &self.threads[slot].known
    }

    /// Whether nothing that any other thread does or did is unknown to this one:
    /// all others have ended, and it has waited for them.
    pub(crate) fn is_alone(&self, slot: ClockSlot) -> bool {
        let known = &self.threads[slot].known;
        let mut others = self.threads.iter().enumerate();
        others.all(|(other, clock)| {
            other == slot || (!clock.live && known.get(other) >= clock.number)
        })
    }

    /// A thread starts another one; its slot, if there is one for it.
    pub(crate) fn create(&mut self, parent: ClockSlot) -> Option<ClockSlot> {
        self.step(parent);
        let known = self.threads[parent].known.clone();
        let mut threads = self.threads.iter().enumerate();
        let reusable = threads.position(|(slot, thread)| {
            !thread.live && slot != parent && known.get(slot) >= thread.number
        });
        let slot = match reusable {
            Some(slot) => slot,
            None if self.threads.len() < MAX_CLOCK_SLOTS => {
                self.threads.push(ThreadClock::default());
                self.threads.len() - 1
            }
            None => return None,
        };
        self.threads[slot] = ThreadClock {
            live: true,
            number: self.threads[slot].number,
            known,
            ..ThreadClock::default()
        };
        self.step(slot);
        Some(slot)
    }

    /// A thread has ended.
    pub(crate) fn exit(&mut self, slot: ClockSlot) {
        self.step(slot);
        self.threads[slot].live = false;
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn join(&mut self, slot: ClockSlot, child: ClockSlot) {
        let known = self.threads[child].known.clone();
        self.step(slot);
        self.threads[slot].known.join(&known);
    }

    /// A thread has done something else.
    #[inline]
    pub(crate) fn event(&mut self, slot: ClockSlot, operation: &RecordedOperation) {
        match *operation {
            RecordedOperation::Load {
                location, order, ..
            } => {
                self.step(slot);
                self.read(slot, location.0, acquires(order));
            }
            RecordedOperation::Store {
                location, order, ..
            } => {
                self.step(slot);
                self.write(slot, location.0, releases(order), false);
            }
            RecordedOperation::Rmw {
                location, order, ..
            } => {
                self.step(slot);
                self.read(slot, location.0, acquires(order));
                self.write(slot, location.0, releases(order), true);
            }
            RecordedOperation::CompareExchange {
                location,
                success,
                failure,
                written,
                ..
            } => {
                self.step(slot);
                let exchanged = written.is_some();
                let order = if exchanged { success } else { failure };
                self.read(slot, location.0, acquires(order));
                if exchanged {
                    self.write(slot, location.0, releases(order), true);
                }
            }
            RecordedOperation::Fence { order } => {
                self.step(slot);
                self.fence(slot, order);
            }
            RecordedOperation::Acquire { lock, mode } => {
                self.step(slot);
                self.acquire(slot, lock, mode);
            }
            RecordedOperation::Release { lock, mode } => {
                self.step(slot);
                self.release(slot, lock, mode);
            }
            // Threads have functions of their own, and the rest is no operation
            // that orders anything.
            _ => {}
        }
    }

    /// A location has ended: what it would have handed on is not needed.
    pub(crate) fn forget_location(&mut self, location: u32) {
        if let Some(message) = self.message_of.get_mut(location as usize)
            && *message != NO_MESSAGE
        {
            self.free_messages.push(*message);
            *message = NO_MESSAGE;
        }
    }

    /// The locks in these bytes are gone.
    pub(crate) fn forget_locks(&mut self, range: core::ops::Range<u64>) {
        while let Some((&lock, _)) = self.locks.range(range.clone()).next() {
            self.locks.remove(&lock);
        }
    }

    #[inline]
    fn step(&mut self, slot: ClockSlot) {
        let thread = &mut self.threads[slot];
        thread.number = thread.number.saturating_add(1);
        thread.known.set(slot, thread.number);
    }

    #[inline]
    fn read(&mut self, slot: ClockSlot, location: u32, acquires: bool) {
        let message = self.message_of.get(location as usize);
        let Some(message) = message.filter(|&&message| message != NO_MESSAGE) else {
            return;
        };
        let thread = &mut self.threads[slot];
        let receiver = if acquires {
            &mut thread.known
        } else {
            &mut thread.acquirable
        };
        receiver.join(&self.messages[*message as usize]);
    }

    #[inline]
    fn write(&mut self, slot: ClockSlot, location: u32, releases: bool, continues: bool) {
        let index = location as usize;
        if index >= self.message_of.len() {
            self.message_of.resize(index + 1, NO_MESSAGE);
        }
        if self.message_of[index] == NO_MESSAGE {
            self.message_of[index] = match self.free_messages.pop() {
                Some(free) => {
                    self.messages[free as usize].copy_from(&Clock::default());
                    free
                }
                None => {
                    self.messages.push(Clock::default());
                    self.messages.len() as u32 - 1
                }
            };
        }
        let thread = &self.threads[slot];
        let source = if releases {
            &thread.known
        } else {
            &thread.released
        };
        let message = &mut self.messages[self.message_of[index] as usize];
        if continues {
            message.join(source);
        } else {
            message.copy_from(source);
        }
    }

    fn fence(&mut self, slot: ClockSlot, order: Order) {
        let thread = &mut self.threads[slot];
        if acquires(order) {
            thread.known.join(&thread.acquirable);
        }
        if releases(order) {
            thread.released.copy_from(&thread.known);
        }
    }

    fn acquire(&mut self, slot: ClockSlot, lock: u64, mode: LockMode) {
        let Some(lock) = self.locks.get(&lock) else {
            return;
        };
        let known = &mut self.threads[slot].known;
        match mode {
            LockMode::Exclusive => {
                known.join(&lock.from_owners);
                known.join(&lock.from_readers);
            }
            LockMode::Shared => known.join(&lock.from_owners),
            LockMode::Signal => known.join(&lock.from_signals),
        }
    }

    fn release(&mut self, slot: ClockSlot, lock: u64, mode: LockMode) {
        let known = &self.threads[slot].known;
        let lock = self.locks.entry(lock).or_default();
        match mode {
            LockMode::Exclusive => lock.from_owners.join(known),
            LockMode::Shared => lock.from_readers.join(known),
            LockMode::Signal => lock.from_signals.join(known),
        }
    }
}

fn acquires(order: Order) -> bool {
    matches!(
        order,
        Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst
    )
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

#[cfg(test)]
mod tests {
    use wmfix_trace::LocationId;

    use super::*;

    const X: LocationId = LocationId(0);

    fn store(order: Order) -> RecordedOperation {
        RecordedOperation::Store {
            location: X,
            order,
            value: 1,
        }
    }

    fn load(order: Order) -> RecordedOperation {
        RecordedOperation::Load {
            location: X,
            order,
            value: 1,
        }
    }

    /// Whether a child that does `reader` after `writer` knows what the main
    /// thread did before it did `writer`.
    fn learns(writer: &[RecordedOperation], reader: &[RecordedOperation]) -> bool {
        let mut clocks = Clocks::new();
        let child = clocks.create(0).unwrap();
        let epoch = clocks.epoch(0);
        assert!(clocks.known(child).get(0) < epoch);
        writer.iter().for_each(|step| clocks.event(0, step));
        reader.iter().for_each(|step| clocks.event(child, step));
        clocks.known(child).get(0) >= epoch
    }

    #[test]
    fn a_release_that_is_acquired_orders_and_nothing_less() {
        let fence = |order| RecordedOperation::Fence { order };
        assert!(learns(&[store(Order::Release)], &[load(Order::Acquire)]));
        assert!(!learns(&[store(Order::Relaxed)], &[load(Order::Acquire)]));
        assert!(!learns(&[store(Order::Release)], &[load(Order::Relaxed)]));
        let by_fences = [fence(Order::Release), store(Order::Relaxed)];
        assert!(learns(&by_fences, &[load(Order::Acquire)]));
        let fenced_read = [load(Order::Relaxed), fence(Order::Acquire)];
        assert!(learns(&by_fences, &fenced_read));
        assert!(!learns(
            &[store(Order::Release), store(Order::Relaxed)],
            &[load(Order::Acquire)]
        ));
    }

    #[test]
    fn readers_of_a_lock_learn_from_writers_only() {
        let acquire = |mode| RecordedOperation::Acquire { lock: 64, mode };
        let release = |mode| RecordedOperation::Release { lock: 64, mode };
        let (alone, shared) = (LockMode::Exclusive, LockMode::Shared);
        assert!(learns(&[release(alone)], &[acquire(shared)]));
        assert!(learns(&[release(shared)], &[acquire(alone)]));
        assert!(!learns(&[release(shared)], &[acquire(shared)]));
    }

    #[test]
    fn slots_of_joined_threads_are_used_again_and_their_past_is_known() {
        let mut clocks = Clocks::new();
        assert!(clocks.is_alone(0));
        for _ in 0..1000 {
            let child = clocks.create(0).unwrap();
            assert_eq!(child, 1);
            assert!(!clocks.is_alone(0));
            clocks.exit(child);
            assert!(!clocks.is_alone(0), "nobody has waited for it");
            clocks.join(0, child);
            assert!(clocks.is_alone(0));
        }
    }
}
