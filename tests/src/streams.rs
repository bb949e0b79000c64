//! Random streams of events of any length, for what programs of a few
//! instructions cannot show: long runs, many locations, threads that come and
//! go. The streams are SC runs: a read reads what was written last.

use wmfix_analysis::{
    CasOutcome, CasStrength, Event, FenceOrder, LoadOrder, LocationId, LockId, LockMode, LoopExit,
    Operation, RmwOrder, SiteId, StoreOrder, ThreadId,
};

use crate::litmus::Rng;

/// What a stream looks like. Probabilities are in percent.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The most threads at a time, without the main thread.
    pub threads: usize,
    /// How many locations.
    pub locations: usize,
    /// An event is a fence.
    pub fence: u32,
    /// A fence is SC.
    pub sc_fence: u32,
    /// An access is SC.
    pub sc: u32,
    /// An access that is not SC is relaxed.
    pub relaxed: u32,
    /// A thread stays with the location of its last access.
    pub stay: u32,
    /// An access is a load; of the others, two in three are stores.
    pub loads: u32,
    /// An event takes or gives back a mutex.
    pub lock: u32,
    /// A thread ends and another one begins, in ten-thousandths.
    pub turnover: usize,
    /// A thread that has ended is never waited for.
    pub detached: u32,
}

impl Shape {
    /// One of many shapes.
    pub fn random(rng: &mut Rng) -> Self {
        Self {
            threads: rng.range(2, 6),
            locations: rng.range(2, 6),
            fence: rng.pick(&[0, 5, 15]),
            sc_fence: rng.pick(&[0, 30, 70]),
            sc: rng.pick(&[0, 10, 30, 60]),
            relaxed: rng.pick(&[10, 40, 80]),
            stay: rng.pick(&[0, 30, 60]),
            loads: rng.pick(&[40, 60, 80]),
            lock: rng.pick(&[0, 0, 5]),
            turnover: rng.pick(&[0, 100, 300]),
            detached: rng.pick(&[0, 20]),
        }
    }

    /// Accesses only, half of them loads, by a fixed set of threads: what the
    /// benchmarks measure.
    pub fn steady(threads: usize, locations: usize) -> Self {
        Self {
            threads,
            locations,
            fence: 0,
            sc_fence: 0,
            sc: 0,
            relaxed: 30,
            stay: 0,
            loads: 60,
            lock: 0,
            turnover: 0,
            detached: 0,
        }
    }
}

/// A random stream with at least this many events.
pub fn stream(shape: &Shape, events: usize, rng: &mut Rng) -> Vec<Event> {
    let mut source = Source::new(*shape, rng.clone());
    rng.bits();
    let mut stream = Vec::with_capacity(events + 8);
    while stream.len() < events {
        source.next_into(&mut stream);
    }
    stream
}

/// Makes a stream piece by piece, so that it need not be kept.
#[derive(Clone, Debug)]
pub struct Source {
    shape: Shape,
    rng: Rng,
    memory: Vec<u64>,
    running: Vec<Worker>,
    next_thread: u32,
    /// Who holds the one mutex.
    holder: Option<ThreadId>,
}

#[derive(Clone, Debug)]
struct Worker {
    thread: ThreadId,
    last: Option<usize>,
}

const MAIN: ThreadId = ThreadId(0);
const LOCK: LockId = LockId(1);

impl Source {
    /// At the start, with only the main thread.
    pub fn new(shape: Shape, rng: Rng) -> Self {
        Self {
            shape,
            rng,
            memory: vec![0; shape.locations],
            running: Vec::new(),
            next_thread: 1,
            holder: None,
        }
    }

    /// Adds the next event or events.
    pub fn next_into(&mut self, stream: &mut Vec<Event>) {
        if self.running.len() < self.shape.threads {
            self.begin(stream);
            return;
        }
        let worker = self.rng.below(self.running.len());
        let thread = self.running[worker].thread;
        if self.shape.turnover > 0 && self.rng.below(10_000) < self.shape.turnover {
            self.end(worker, stream);
        } else if self.shape.lock > 0 && self.rng.percent(self.shape.lock) {
            stream.extend(self.lock(thread));
        } else if self.shape.fence > 0 && self.rng.percent(self.shape.fence) {
            let order = self.fence_order();
            stream.push(event(thread, 0, Operation::Fence { order }));
        } else {
            stream.push(self.access(worker));
        }
    }

    fn begin(&mut self, stream: &mut Vec<Event>) {
        // Mostly the main thread, sometimes a worker.
        let parent = match self.running.len() {
            0 => MAIN,
            n if self.rng.percent(20) => self.running[self.rng.below(n)].thread,
            _ => MAIN,
        };
        let child = ThreadId(self.next_thread);
        self.next_thread += 1;
        stream.push(event(parent, 0, Operation::Create { child }));
        self.running.push(Worker {
            thread: child,
            last: None,
        });
    }

    fn end(&mut self, worker: usize, stream: &mut Vec<Event>) {
        let thread = self.running[worker].thread;
        if self.holder == Some(thread) {
            stream.extend(self.lock(thread));
        }
        self.running.swap_remove(worker);
        stream.push(event(thread, 0, Operation::Exit));
        if !self.rng.percent(self.shape.detached) {
            let child = thread;
            stream.push(event(MAIN, 0, Operation::Join { child }));
        }
    }

    /// Takes the mutex if it is free, gives it back if the thread has it.
    fn lock(&mut self, thread: ThreadId) -> Option<Event> {
        let (lock, mode) = (LOCK, LockMode::Exclusive);
        match self.holder {
            None => {
                self.holder = Some(thread);
                Some(event(thread, 0, Operation::Acquire { lock, mode }))
            }
            Some(holder) if holder == thread => {
                self.holder = None;
                Some(event(thread, 0, Operation::Release { lock, mode }))
            }
            Some(_) => None,
        }
    }

    fn access(&mut self, worker: usize) -> Event {
        let Worker { thread, last } = self.running[worker];
        let place = match last {
            Some(place) if self.rng.percent(self.shape.stay) => place,
            _ => self.rng.below(self.shape.locations),
        };
        self.running[worker].last = Some(place);
        let location = LocationId(place as u32);
        let value = self.memory[place];
        // Few values, so that they meet again.
        let new = self.rng.below(4) as u64;
        let operation = if self.rng.percent(self.shape.loads) {
            let order = self.load_order();
            let exit = (self.shape.fence > 0 && self.rng.percent(5)).then(|| LoopExit::equal(new));
            Operation::Load {
                location,
                order,
                value,
                exit,
            }
        } else if self.rng.percent(66) {
            self.memory[place] = new;
            let order = self.store_order();
            Operation::Store {
                location,
                order,
                value: new,
            }
        } else if self.rng.percent(60) {
            self.memory[place] = new;
            let order = self.rmw_order();
            Operation::Rmw {
                location,
                order,
                read: value,
                written: new,
                exit: None,
            }
        } else {
            self.compare_exchange(place, new)
        };
        event(thread, place, operation)
    }

    fn compare_exchange(&mut self, place: usize, new: u64) -> Operation {
        let read = self.memory[place];
        let expected = if self.rng.percent(60) {
            read
        } else {
            self.rng.below(4) as u64
        };
        let strength = self.rng.pick(&[CasStrength::Weak, CasStrength::Strong]);
        let spurious = strength == CasStrength::Weak && self.rng.percent(20);
        let outcome = if read == expected && !spurious {
            self.memory[place] = new;
            CasOutcome::Exchanged(new)
        } else {
            CasOutcome::Failed
        };
        let success = self.rmw_order();
        Operation::CompareExchange {
            location: LocationId(place as u32),
            success,
            failure: self.load_order(),
            strength,
            expected,
            read,
            outcome,
            blocking: strength == CasStrength::Strong && self.rng.percent(20),
        }
    }

    fn load_order(&mut self) -> LoadOrder {
        if self.rng.percent(self.shape.sc) {
            LoadOrder::SeqCst
        } else if self.rng.percent(self.shape.relaxed) {
            LoadOrder::Relaxed
        } else {
            LoadOrder::Acquire
        }
    }

    fn store_order(&mut self) -> StoreOrder {
        if self.rng.percent(self.shape.sc) {
            StoreOrder::SeqCst
        } else if self.rng.percent(self.shape.relaxed) {
            StoreOrder::Relaxed
        } else {
            StoreOrder::Release
        }
    }

    fn rmw_order(&mut self) -> RmwOrder {
        if self.rng.percent(self.shape.sc) {
            RmwOrder::SeqCst
        } else if self.rng.percent(self.shape.relaxed) {
            self.rng
                .pick(&[RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release])
        } else {
            RmwOrder::AcqRel
        }
    }

    fn fence_order(&mut self) -> FenceOrder {
        if self.rng.percent(self.shape.sc_fence) {
            FenceOrder::SeqCst
        } else {
            self.rng
                .pick(&[FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel])
        }
    }
}

/// Sites are by location, so that findings fold.
fn event(thread: ThreadId, place: usize, operation: Operation) -> Event {
    Event {
        thread,
        site: SiteId((place % 64) as u32),
        operation,
    }
}
