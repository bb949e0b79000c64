//! Random runs, analysed whole and as the filter leaves them: the findings must
//! be the same, with the same events and the same counts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use wmfix_analysis::{
    self as analysis, Analyzer, AnalyzerConfig, Bytes, CasOutcome, CasStrength, Event, EventIndex,
    FenceOrder, LoadOrder, LockId, RmwOrder, SiteId, StoreOrder,
};
use wmfix_trace::{LocationId, LockMode, Order, RecordedOperation};

use super::AccessFilter;
use crate::rng::Rng;
use crate::thread::{Thread, phase};

/// Where the plain memory of the runs lies: three granules.
const BASE: u64 = 0x7200_0000_0000;
const PLAIN_BYTES: u64 = 24;
/// Where the atomics lie: two of four bytes in one granule.
const ATOMICS: u64 = BASE + 64;

/// A run in the making: both analyses of it, and the filter in between.
struct Comparison {
    whole: Analyzer,
    filtered: Analyzer,
    filter: AccessFilter,
    threads: Vec<Thread>,
    alone: bool,
    next: u64,
    left_out: u64,
    values: [u64; 2],
    born: [bool; 2],
    /// Threads mostly keep to memory of their own.
    orderly: bool,
}

impl Comparison {
    fn new() -> Self {
        let config = AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        };
        let mut main = thread();
        let filter = AccessFilter::new(&mut main).expect("memory for the shadow");
        Self {
            whole: Analyzer::new(config),
            filtered: Analyzer::new(config),
            filter,
            threads: Vec::from([main]),
            alone: true,
            next: 0,
            left_out: 0,
            values: [0; 2],
            born: [false; 2],
            orderly: false,
        }
    }

    fn feed(&mut self, thread: usize, site: u32, operation: analysis::Operation, kept: bool) {
        let event = Event {
            thread: analysis::ThreadId(thread as u32),
            site: SiteId(site),
            operation,
        };
        let index = EventIndex(self.next);
        self.next += 1;
        self.whole.feed_at(index, &event).expect("a possible run");
        if kept {
            self.filtered
                .feed_at(index, &event)
                .expect("a possible run without what was left out");
        } else {
            self.left_out += 1;
        }
    }

    fn order(&mut self, thread: usize, operation: &RecordedOperation) {
        if !self.alone {
            self.filter.event(&mut self.threads[thread], operation);
        }
    }

    fn plain(&mut self, thread: usize, site: u32, bytes: Bytes, writes: bool) {
        let Bytes { address, size } = bytes;
        let kept = !self.alone
            && self
                .filter
                .access(&self.threads[thread], address, size, writes)
                .expect("memory for the shadow");
        let operation = if writes {
            analysis::Operation::Write { bytes }
        } else {
            analysis::Operation::Read { bytes }
        };
        // A plain access to an atomic is never left out by the runtime.
        self.feed(thread, site, operation, kept || address >= ATOMICS);
    }

    fn give_back(&mut self, thread: usize, site: u32, bytes: Bytes) {
        let known = self.filter.forget(bytes.address, bytes.size) && !self.alone;
        self.feed(thread, site, analysis::Operation::Death { bytes }, known);
    }

    fn birth(&mut self, thread: usize, site: u32, which: usize) {
        if core::mem::replace(&mut self.born[which], true) {
            return;
        }
        let bytes = Bytes {
            address: ATOMICS + 4 * which as u64,
            size: 4,
        };
        self.filter
            .mark_atomic(bytes.address, bytes.size)
            .expect("memory for the shadow");
        let birth = analysis::Operation::Birth {
            location: analysis::LocationId(which as u32),
            bytes,
            value: self.values[which],
        };
        self.feed(thread, site, birth, true);
    }

    fn create(&mut self, parent: usize, site: u32) {
        let child = self.threads.len();
        let mut record = thread();
        self.alone = false;
        self.filter.create(&mut self.threads[parent], &mut record);
        self.threads.push(record);
        let child = analysis::ThreadId(child as u32);
        self.feed(parent, site, analysis::Operation::Create { child }, true);
    }

    fn exit(&mut self, thread: usize) {
        self.feed(thread, 0, analysis::Operation::Exit, true);
        if !self.alone {
            self.filter.exit(&mut self.threads[thread]);
        }
    }

    fn join(&mut self, thread: usize, child: usize, site: u32) {
        let joined = analysis::ThreadId(child as u32);
        self.feed(
            thread,
            site,
            analysis::Operation::Join { child: joined },
            true,
        );
        let (before, after) = self.threads.split_at_mut(child);
        self.alone = self.filter.join(&mut before[thread], &after[0]);
    }

    fn agree(&self, seed: u64) {
        assert_eq!(self.whole.races(), self.filtered.races(), "seed {seed}");
        assert_eq!(
            self.whole.violations(),
            self.filtered.violations(),
            "seed {seed}"
        );
    }
}

fn thread() -> Thread {
    // SAFETY: made by `Box::into_raw` a moment ago.
    *unsafe { Box::from_raw(Thread::new(0, phase::OUTSIDE)) }
}

/// An order that both sides know, for every kind of access.
fn orders(rng: &mut Rng) -> (Order, LoadOrder, StoreOrder, RmwOrder, FenceOrder) {
    match rng.below(4) {
        0 => (
            Order::Relaxed,
            LoadOrder::Relaxed,
            StoreOrder::Relaxed,
            RmwOrder::Relaxed,
            FenceOrder::Acquire,
        ),
        1 => (
            Order::AcqRel,
            LoadOrder::Acquire,
            StoreOrder::Release,
            RmwOrder::AcqRel,
            FenceOrder::AcqRel,
        ),
        2 => (
            Order::Release,
            LoadOrder::Relaxed,
            StoreOrder::Release,
            RmwOrder::Release,
            FenceOrder::Release,
        ),
        _ => (
            Order::SeqCst,
            LoadOrder::SeqCst,
            StoreOrder::SeqCst,
            RmwOrder::SeqCst,
            FenceOrder::SeqCst,
        ),
    }
}

fn atomic(run: &mut Comparison, rng: &mut Rng, thread: usize, site: u32) {
    let (order, load, store, rmw, _) = orders(rng);
    let which = rng.below(2) as usize;
    run.birth(thread, site, which);
    let (here, there) = (LocationId(which as u32), analysis::LocationId(which as u32));
    let (read, value) = (run.values[which], rng.below(3));
    // What an order means for the part of the access that it does not fit.
    let load_only = if order == Order::Release {
        Order::Relaxed
    } else {
        order
    };
    let (recorded, fed) = match rng.below(4) {
        0 => (
            RecordedOperation::Load {
                location: here,
                order: load_only,
                value: read.into(),
            },
            analysis::Operation::Load {
                location: there,
                order: load,
                value: read,
                exit: None,
            },
        ),
        1 => (
            RecordedOperation::Store {
                location: here,
                order,
                value: value.into(),
            },
            analysis::Operation::Store {
                location: there,
                order: store,
                value,
            },
        ),
        2 => (
            RecordedOperation::Rmw {
                location: here,
                order,
                kind: wmfix_trace::RmwKind::Exchange,
                read: read.into(),
                written: value.into(),
            },
            analysis::Operation::Rmw {
                location: there,
                order: rmw,
                read,
                written: value,
                exit: None,
            },
        ),
        _ => {
            let expected = rng.below(3);
            let exchanged = expected == read;
            (
                RecordedOperation::CompareExchange {
                    location: here,
                    success: order,
                    failure: load_only,
                    weak: false,
                    expected: expected.into(),
                    read: read.into(),
                    written: exchanged.then_some(value.into()),
                },
                analysis::Operation::CompareExchange {
                    location: there,
                    success: rmw,
                    failure: load,
                    strength: CasStrength::Strong,
                    expected,
                    read,
                    outcome: if exchanged {
                        CasOutcome::Exchanged(value)
                    } else {
                        CasOutcome::Failed
                    },
                    blocking: false,
                },
            )
        }
    };
    run.order(thread, &recorded);
    run.feed(thread, site, fed, true);
    if let RecordedOperation::Store { .. }
    | RecordedOperation::Rmw { .. }
    | RecordedOperation::CompareExchange {
        written: Some(_), ..
    } = recorded
    {
        run.values[which] = value;
    }
}

fn fence(run: &mut Comparison, rng: &mut Rng, thread: usize, site: u32) {
    let (order, .., fence) = orders(rng);
    let order = if order == Order::Relaxed {
        Order::Acquire
    } else {
        order
    };
    run.order(thread, &RecordedOperation::Fence { order });
    run.feed(
        thread,
        site,
        analysis::Operation::Fence { order: fence },
        true,
    );
}

/// A lock taken and given back, in one go.
fn lock(run: &mut Comparison, rng: &mut Rng, thread: usize, site: u32) {
    let (mode, other) = match rng.below(3) {
        0 => (LockMode::Exclusive, analysis::LockMode::Exclusive),
        1 => (LockMode::Shared, analysis::LockMode::Shared),
        _ => (LockMode::Signal, analysis::LockMode::Signal),
    };
    let lock = 0x100;
    let acquire = RecordedOperation::Acquire { lock, mode };
    let release = RecordedOperation::Release { lock, mode };
    run.order(thread, &acquire);
    let fed = analysis::Operation::Acquire {
        lock: LockId(lock),
        mode: other,
    };
    run.feed(thread, site, fed, true);
    run.order(thread, &release);
    let fed = analysis::Operation::Release {
        lock: LockId(lock),
        mode: other,
    };
    run.feed(thread, site, fed, true);
}

fn plain(run: &mut Comparison, rng: &mut Rng, thread: usize, site: u32) {
    let mut size = 1 << rng.below(5);
    let mut address = BASE + rng.below(PLAIN_BYTES - size + 1);
    let writes = rng.one_in(3);
    if run.orderly {
        // A granule for each thread, so that not every run has a race.
        size = size.min(8);
        address = BASE + 8 * thread as u64 + rng.below(9 - size);
    }
    let bytes = if rng.one_in(20) && !run.orderly {
        Bytes {
            address: ATOMICS,
            size: 4,
        }
    } else {
        Bytes { address, size }
    };
    // A plain write to an atomic is left to the tests of whole programs: the
    // runtime makes a new location of it.
    run.plain(thread, site, bytes, writes && bytes.address < ATOMICS);
}

/// A random run. Returns how much was left out, and how many races there are.
fn compare(seed: u64) -> (u64, usize) {
    let mut rng = Rng::new(seed);
    let mut run = Comparison::new();
    run.orderly = rng.one_in(2);
    let mut live = Vec::from([0usize]);
    let mut ended: Vec<usize> = Vec::new();
    for _ in 0..120 {
        let thread = live[rng.below(live.len() as u64) as usize];
        let site = 1 + rng.below(6) as u32;
        match rng.below(40) {
            0..2 if run.threads.len() < 5 => {
                live.push(run.threads.len());
                run.create(thread, site);
            }
            2 if thread != 0 => {
                live.retain(|&other| other != thread);
                ended.push(thread);
                run.exit(thread);
            }
            3 if thread == 0 && !ended.is_empty() => {
                let child = ended.swap_remove(0);
                run.join(thread, child, site);
            }
            4 => {
                let start = rng.below(PLAIN_BYTES);
                let bytes = Bytes {
                    address: BASE + start,
                    size: 1 + rng.below(PLAIN_BYTES - start),
                };
                run.give_back(thread, site, bytes);
            }
            5..9 => atomic(&mut run, &mut rng, thread, site),
            9 => fence(&mut run, &mut rng, thread, site),
            10..12 => lock(&mut run, &mut rng, thread, site),
            // Threads do several things before another one's turn comes.
            _ => (0..1 + rng.below(4)).for_each(|_| plain(&mut run, &mut rng, thread, site)),
        }
    }
    run.agree(seed);
    run.filter.forget(BASE, 128);
    (run.left_out, run.whole.races().len())
}

#[test]
fn what_is_left_out_makes_no_difference() {
    let (mut left_out, mut racy, mut clean) = (0, 0, 0);
    for seed in 0..20_000 {
        let (without, races) = compare(seed);
        left_out += without;
        racy += u64::from(races > 0);
        clean += u64::from(races == 0);
    }
    assert!(left_out > 100_000, "{left_out} left out");
    assert!(racy > 5_000 && clean > 5_000, "{racy} racy, {clean} clean");
}
