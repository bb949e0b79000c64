//! Random runs of a few events: locks, rwlocks, signals, atomics of all orders,
//! plain accesses of several sizes to the same bytes, threads that come and go,
//! memory that is given back. A read reads what was written last.

use std::collections::BTreeMap;

use wmfix_analysis::{
    Bytes, CasOutcome, CasStrength, Event, FenceOrder, LoadOrder, LocationId, LockId, LockMode,
    Operation, RmwOrder, SiteId, StoreOrder, ThreadId,
};

use crate::litmus::Rng;

/// What a run looks like. Probabilities are weights.
#[derive(Clone, Copy, Debug)]
pub struct TraceShape {
    /// Threads that there are from the start; the first one creates the others.
    pub threads: usize,
    /// Events, about.
    pub events: usize,
    /// Plain variables.
    pub variables: usize,
    /// Locks.
    pub locks: usize,
    /// Atomic locations; the first lies in the bytes of the first variable.
    pub atomics: usize,
    /// Weight of plain accesses.
    pub plain: usize,
    /// Weight of taking and giving back a lock.
    pub lock: usize,
    /// Weight of atomic accesses.
    pub atomic: usize,
    /// Weight of everything else.
    pub other: usize,
    /// A plain access is made under a lock, in percent.
    pub disciplined: u32,
}

impl TraceShape {
    /// One of many shapes.
    pub fn random(rng: &mut Rng) -> Self {
        Self {
            threads: rng.pick(&[2, 2, 3, 3, 4]),
            events: rng.range(6, 15),
            variables: rng.range(1, 3),
            locks: rng.range(1, 3),
            atomics: rng.range(1, 2),
            plain: rng.pick(&[3, 5, 8]),
            lock: rng.pick(&[0, 3, 6]),
            atomic: rng.pick(&[0, 1, 4]),
            other: rng.pick(&[0, 1]),
            disciplined: rng.pick(&[0, 70, 90]),
        }
    }
}

/// A random run.
pub fn random_trace(rng: &mut Rng) -> Vec<Event> {
    let shape = TraceShape::random(rng);
    let mut source = Source {
        shape,
        threads: (0..shape.threads as u32).collect(),
        next_thread: shape.threads as u32,
        ended: Vec::new(),
        owners: BTreeMap::new(),
        readers: BTreeMap::new(),
        atomics: BTreeMap::new(),
        next_location: 0,
        events: Vec::new(),
    };
    for child in 1..shape.threads as u32 {
        let child = ThreadId(child);
        source.push(0, Operation::Create { child });
    }
    let created = source.events.len();
    while source.events.len() < created + shape.events && !source.threads.is_empty() {
        source.step(rng);
    }
    source.events
}

struct Source {
    shape: TraceShape,
    threads: Vec<u32>,
    next_thread: u32,
    ended: Vec<u32>,
    owners: BTreeMap<u64, u32>,
    readers: BTreeMap<u64, Vec<u32>>,
    /// By number: the location that stands for it now, and its value.
    atomics: BTreeMap<usize, (LocationId, u64)>,
    next_location: u32,
    events: Vec<Event>,
}

impl Source {
    fn push(&mut self, thread: u32, operation: Operation) {
        self.events.push(Event {
            thread: ThreadId(thread),
            site: SiteId(self.events.len() as u32),
            operation,
        });
    }

    fn step(&mut self, rng: &mut Rng) {
        let thread = self.threads[rng.below(self.threads.len())];
        let TraceShape {
            plain,
            lock,
            atomic,
            other,
            ..
        } = self.shape;
        let drawn = rng.below(plain + lock + atomic + other);
        if drawn < plain {
            self.plain(thread, rng);
        } else if drawn < plain + lock {
            self.lock(thread, rng);
        } else if drawn < plain + lock + atomic {
            self.atomic(thread, rng);
        } else {
            self.other(thread, rng);
        }
    }

    fn plain(&mut self, thread: u32, rng: &mut Rng) {
        if rng.percent(self.shape.disciplined) && !self.holds(thread) {
            return self.lock(thread, rng);
        }
        let variable = rng.below(self.shape.variables);
        let (offset, size) = rng.pick(&[(0, 4), (0, 4), (0, 4), (2, 2), (0, 2), (2, 8)]);
        let bytes = Bytes {
            address: variable_bytes(variable).address + offset,
            size,
        };
        if rng.percent(50) {
            // What a plain write leaves is a new object to whoever uses it next.
            if variable == 0 {
                self.atomics.remove(&0);
            }
            self.push(thread, Operation::Write { bytes });
        } else {
            self.push(thread, Operation::Read { bytes });
        }
    }

    fn lock(&mut self, thread: u32, rng: &mut Rng) {
        let lock = rng.below(self.shape.locks) as u64;
        let id = LockId(lock);
        let readers = self.readers.entry(lock).or_default();
        if self.owners.get(&lock) == Some(&thread) {
            self.owners.remove(&lock);
            let mode = LockMode::Exclusive;
            self.push(thread, Operation::Release { lock: id, mode });
        } else if let Some(at) = readers.iter().position(|&reader| reader == thread) {
            readers.remove(at);
            let mode = LockMode::Shared;
            self.push(thread, Operation::Release { lock: id, mode });
        } else {
            if self.owners.contains_key(&lock) {
                return;
            }
            let shared = lock == 1 && rng.percent(70);
            if shared {
                readers.push(thread);
            } else if readers.is_empty() {
                self.owners.insert(lock, thread);
            } else {
                return;
            }
            let mode = if shared {
                LockMode::Shared
            } else {
                LockMode::Exclusive
            };
            self.push(thread, Operation::Acquire { lock: id, mode });
        }
    }

    fn atomic(&mut self, thread: u32, rng: &mut Rng) {
        let number = rng.below(self.shape.atomics);
        if !self.atomics.contains_key(&number) {
            let location = LocationId(self.next_location);
            self.next_location += 1;
            let bytes = match number {
                0 => variable_bytes(0),
                _ => variable_bytes(100 + number),
            };
            self.atomics.insert(number, (location, 0));
            let value = 0;
            self.push(
                thread,
                Operation::Birth {
                    location,
                    bytes,
                    value,
                },
            );
        }
        let (location, value) = self.atomics[&number];
        let mut set = |value| self.atomics.insert(number, (location, value));
        let operation = match rng.below(5) {
            0 | 1 => Operation::Load {
                location,
                order: rng.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst]),
                value,
                exit: None,
            },
            2 => {
                let new = rng.below(3) as u64;
                set(new);
                Operation::Store {
                    location,
                    order: rng.pick(&[
                        StoreOrder::Relaxed,
                        StoreOrder::Release,
                        StoreOrder::SeqCst,
                    ]),
                    value: new,
                }
            }
            3 => {
                set(value + 1);
                Operation::Rmw {
                    location,
                    order: rng.pick(&[RmwOrder::Relaxed, RmwOrder::AcqRel, RmwOrder::SeqCst]),
                    read: value,
                    written: value + 1,
                    exit: None,
                }
            }
            _ => {
                let expected = rng.pick(&[value, value, value + 1]);
                let outcome = if expected == value {
                    set(value + 2);
                    CasOutcome::Exchanged(value + 2)
                } else {
                    CasOutcome::Failed
                };
                Operation::CompareExchange {
                    location,
                    success: rng.pick(&[RmwOrder::Relaxed, RmwOrder::AcqRel, RmwOrder::SeqCst]),
                    failure: rng.pick(&[LoadOrder::Relaxed, LoadOrder::SeqCst]),
                    strength: CasStrength::Strong,
                    expected,
                    read: value,
                    outcome,
                    blocking: false,
                }
            }
        };
        self.push(thread, operation);
    }

    fn other(&mut self, thread: u32, rng: &mut Rng) {
        let lock = LockId(900);
        let mode = LockMode::Signal;
        match rng.below(8) {
            0 | 1 => self.push(thread, Operation::Release { lock, mode }),
            2 | 3 => self.push(thread, Operation::Acquire { lock, mode }),
            4 => {
                let order =
                    rng.pick(&[FenceOrder::Acquire, FenceOrder::Release, FenceOrder::SeqCst]);
                self.push(thread, Operation::Fence { order });
            }
            5 if self.threads.len() < 4 => {
                let child = self.next_thread;
                self.next_thread += 1;
                self.threads.push(child);
                let child = ThreadId(child);
                self.push(thread, Operation::Create { child });
            }
            6 => match self.ended.pop() {
                Some(child) => {
                    let child = ThreadId(child);
                    self.push(thread, Operation::Join { child });
                }
                None if self.threads.len() > 1 && !self.holds(thread) => {
                    self.threads.retain(|&other| other != thread);
                    self.ended.push(thread);
                    self.push(thread, Operation::Exit);
                }
                None => {}
            },
            7 => {
                let variable = rng.below(self.shape.variables);
                if variable == 0 {
                    self.atomics.remove(&0);
                }
                let bytes = variable_bytes(variable);
                self.push(thread, Operation::Death { bytes });
            }
            _ => {}
        }
    }

    fn holds(&self, thread: u32) -> bool {
        self.owners.values().any(|&owner| owner == thread)
            || self
                .readers
                .values()
                .flatten()
                .any(|&reader| reader == thread)
    }
}

fn variable_bytes(variable: usize) -> Bytes {
    Bytes {
        address: 0x1000 + 16 * variable as u64,
        size: 4,
    }
}
