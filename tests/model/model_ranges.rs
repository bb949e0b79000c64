//! Races on ranges of bytes: the detector, with its epochs and granules, against
//! sets of events and lists of accesses to every byte. Ranges of all sizes
//! overlap, memory is given back, and atomic objects lie among it.

use std::collections::{BTreeMap, BTreeSet};

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, LoadOrder, LocationId, LockId, LockMode, Operation,
    SiteId, StoreOrder, ThreadId,
};
use wmfix_tests::litmus::Rng;

#[test]
fn overlapping_ranges() {
    let (mut racing, mut clean, mut accesses) = (0, 0, 0);
    for seed in 0..6_000 {
        let mut rng = Rng::new(seed);
        let mut source = Source::new(&mut rng);
        let mut naive = NaiveDetector::default();
        let mut analyzer = Analyzer::new(AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        });
        let mut stream = source.start();
        let mut fed = 0;
        let raced = loop {
            if fed == stream.len() {
                if fed > 120 {
                    break false;
                }
                stream.extend(source.next(&mut rng));
                continue;
            }
            let event = stream[fed];
            let expected = naive.feed(fed, &event);
            let step = analyzer.feed(&event).unwrap();
            let story = || {
                let lines = stream[..=fed]
                    .iter()
                    .map(|e| format!("\n{} {:?}", e.thread.0, e.operation));
                format!("seed {seed}: {}", lines.collect::<String>())
            };
            assert_eq!(step.race.is_some(), !expected.is_empty(), "{}", story());
            accesses += 1;
            if let Some(race) = step.race {
                let race = &analyzer.races()[race].race;
                let first = (race.first.thread, race.first.writes, race.first.atomic);
                let bytes = race.bytes.address..race.bytes.address + race.bytes.size;
                let partner = |p: &Partner| {
                    first == (p.thread, p.writes, p.atomic) && bytes.contains(&p.byte)
                };
                assert!(expected.iter().any(partner), "{race:?} {}", story());
                break true;
            }
            fed += 1;
        };
        racing += usize::from(raced);
        clean += usize::from(!raced);
    }
    assert!(
        racing > 500 && clean > 500,
        "{racing} with a race, {clean} without"
    );
    assert!(accesses > 100_000, "{accesses} events");
}

/// An earlier access to a byte.
#[derive(Clone, Copy, Debug)]
struct Partner {
    event: usize,
    thread: ThreadId,
    byte: u64,
    writes: bool,
    atomic: bool,
}

/// Happens-before as sets of events, and every access to every byte.
#[derive(Default)]
struct NaiveDetector {
    known: BTreeMap<ThreadId, BTreeSet<usize>>,
    ended: BTreeMap<ThreadId, BTreeSet<usize>>,
    /// What those left who held a lock in some mode.
    locks: BTreeMap<(LockId, Mode), BTreeSet<usize>>,
    messages: BTreeMap<LocationId, BTreeSet<usize>>,
    objects: BTreeMap<LocationId, Bytes>,
    accesses: Vec<Partner>,
}

/// A lock mode that can be a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Exclusive,
    Shared,
    Signal,
}

impl From<LockMode> for Mode {
    fn from(mode: LockMode) -> Self {
        match mode {
            LockMode::Exclusive => Self::Exclusive,
            LockMode::Shared => Self::Shared,
            LockMode::Signal => Self::Signal,
        }
    }
}

impl NaiveDetector {
    /// Takes an event; gives the accesses it races with.
    fn feed(&mut self, index: usize, event: &Event) -> Vec<Partner> {
        let thread = event.thread;
        self.known.entry(thread).or_default().insert(index);
        let known = self.known[&thread].clone();
        match event.operation {
            Operation::Create { child } => {
                self.known.insert(child, known);
            }
            Operation::Exit => {
                self.ended.insert(thread, known);
            }
            Operation::Join { child } => self.learn(thread, &self.ended[&child].clone()),
            Operation::Release { lock, mode } => {
                let left = self.locks.entry((lock, mode.into())).or_default();
                left.extend(&known);
            }
            Operation::Acquire { lock, mode } => {
                // Readers learn from writers, writers from both, who waits for a
                // signal from those who sent it.
                let teachers: &[Mode] = match mode {
                    LockMode::Exclusive => &[Mode::Exclusive, Mode::Shared],
                    LockMode::Shared => &[Mode::Exclusive],
                    LockMode::Signal => &[Mode::Signal],
                };
                for &teacher in teachers {
                    let left = self.locks.entry((lock, teacher)).or_default().clone();
                    self.learn(thread, &left);
                }
            }
            Operation::Birth {
                location, bytes, ..
            } => {
                self.objects.insert(location, bytes);
            }
            Operation::Death { bytes } => {
                let range = bytes.address..bytes.address + bytes.size;
                self.accesses.retain(|a| !range.contains(&a.byte));
            }
            Operation::Load {
                location, order, ..
            } => {
                if order.acquires() {
                    let message = self.messages.entry(location).or_default().clone();
                    self.learn(thread, &message);
                }
                return self.access(index, thread, self.objects[&location], false, true);
            }
            Operation::Store {
                location, order, ..
            } => {
                let message = if order.releases() {
                    known
                } else {
                    BTreeSet::new()
                };
                self.messages.insert(location, message);
                return self.access(index, thread, self.objects[&location], true, true);
            }
            Operation::Read { bytes } => return self.access(index, thread, bytes, false, false),
            Operation::Write { bytes } => {
                // What lies there starts afresh: nobody learns from it any more.
                for (location, object) in &self.objects {
                    if object.address < bytes.address + bytes.size
                        && bytes.address < object.address + object.size
                    {
                        self.messages.remove(location);
                    }
                }
                return self.access(index, thread, bytes, true, false);
            }
            _ => panic!("{event:?} is not among what is generated"),
        }
        Vec::new()
    }

    fn learn(&mut self, thread: ThreadId, message: &BTreeSet<usize>) {
        self.known.entry(thread).or_default().extend(message);
    }

    fn access(
        &mut self,
        event: usize,
        thread: ThreadId,
        bytes: Bytes,
        writes: bool,
        atomic: bool,
    ) -> Vec<Partner> {
        let known = &self.known[&thread];
        let range = bytes.address..bytes.address + bytes.size;
        let races = |other: &&Partner| {
            range.contains(&other.byte)
                && other.thread != thread
                && (other.writes || writes)
                && !(other.atomic && atomic)
                && !known.contains(&other.event)
        };
        let found = self.accesses.iter().filter(races).copied().collect();
        self.accesses.extend(range.clone().map(|byte| Partner {
            event,
            thread,
            byte,
            writes,
            atomic,
        }));
        found
    }
}

/// Random events on sixty bytes with three atomic objects among them. Most
/// accesses are made under a lock, or hardly a stream would get far.
struct Source {
    threads: u32,
    running: Vec<ThreadId>,
    plain: u32,
    bare: u32,
}

const MAIN: ThreadId = ThreadId(0);
const LOCK: LockId = LockId(5);
const OBJECTS: [(u32, u64, u64); 3] = [(1, 8, 4), (2, 12, 4), (3, 40, 8)];

impl Source {
    fn new(rng: &mut Rng) -> Self {
        Self {
            threads: 3,
            running: (1..=3).map(ThreadId).collect(),
            plain: rng.pick(&[50, 80]),
            bare: rng.pick(&[0, 1, 5]),
        }
    }

    fn start(&mut self) -> Vec<Event> {
        let births = OBJECTS.iter().map(|&(location, address, size)| {
            let bytes = Bytes { address, size };
            let location = LocationId(location);
            event(
                MAIN,
                Operation::Birth {
                    location,
                    bytes,
                    value: 0,
                },
            )
        });
        let creates = (self.running.iter()).map(|&child| event(MAIN, Operation::Create { child }));
        births.chain(creates).collect()
    }

    fn next(&mut self, rng: &mut Rng) -> Vec<Event> {
        let thread = rng.pick(&self.running);
        let at = rng.below(self.running.len());
        if rng.percent(3) {
            // A thread ends and is waited for, and another one begins.
            let ended = self.running[at];
            self.threads += 1;
            let child = ThreadId(self.threads);
            self.running[at] = child;
            return vec![
                event(ended, Operation::Exit),
                event(MAIN, Operation::Join { child: ended }),
                event(MAIN, Operation::Create { child }),
            ];
        }
        if rng.percent(2) {
            let bytes = self.range(rng);
            return vec![event(
                thread,
                Operation::Death {
                    bytes: plain_part(bytes),
                },
            )];
        }
        if rng.percent(100 - self.plain) {
            return vec![event(thread, atomic(rng))];
        }
        let bytes = self.range(rng);
        let access = if rng.percent(50) {
            Operation::Read { bytes }
        } else {
            Operation::Write { bytes }
        };
        if rng.percent(self.bare) {
            return vec![event(thread, access)];
        }
        if rng.percent(5) {
            let (lock, mode) = (LOCK, LockMode::Signal);
            return vec![
                event(thread, Operation::Release { lock, mode }),
                event(rng.pick(&self.running), Operation::Acquire { lock, mode }),
            ];
        }
        // Readers share the lock; now and then one of them writes.
        let reads = matches!(access, Operation::Read { .. });
        let shared = if reads { 60 } else { self.bare };
        let mode = if rng.percent(shared) {
            LockMode::Shared
        } else {
            LockMode::Exclusive
        };
        let lock = LOCK;
        vec![
            event(thread, Operation::Acquire { lock, mode }),
            event(thread, access),
            event(thread, Operation::Release { lock, mode }),
        ]
    }

    fn range(&self, rng: &mut Rng) -> Bytes {
        let size = rng.pick(&[1, 2, 4, 4, 8, 11, 20]);
        let mut address = rng.below(40) as u64;
        // The objects are rarely accessed plainly: it almost always is a race.
        if !rng.percent(self.bare) {
            address += 60;
        }
        Bytes { address, size }
    }
}

/// Giving back an atomic object would end it; here only plain memory is.
fn plain_part(bytes: Bytes) -> Bytes {
    Bytes {
        address: bytes.address.max(60),
        ..bytes
    }
}

fn atomic(rng: &mut Rng) -> Operation {
    let location = LocationId(rng.pick(&OBJECTS).0);
    if rng.percent(50) {
        Operation::Load {
            location,
            order: rng.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire]),
            value: 0,
            exit: None,
        }
    } else {
        Operation::Store {
            location,
            order: rng.pick(&[StoreOrder::Relaxed, StoreOrder::Release]),
            value: 0,
        }
    }
}

fn event(thread: ThreadId, operation: Operation) -> Event {
    Event {
        thread,
        site: SiteId(thread.0),
        operation,
    }
}
