//! Random programs. What is in them is drawn with weights that have names, so that a
//! part of the language can be left out or asked for.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

use super::machine::MOST_MUTEXES;
use super::program::{
    Build, Change, Ending, Leaving, Lock, Locking, PlainKind, Private, Program, Statement,
    TextReader, Thread,
};
use crate::rng::Rng;

/// How often things are drawn, relative to each other; 0: never.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Atomic loads, stores and read-modify-writes.
    pub atomics: u32,
    /// Fences.
    pub fences: u32,
    /// Plain accesses, most of them protected in some way.
    pub plains: u32,
    /// Mutexes that are waited for.
    pub mutexes: u32,
    /// Spinlocks, read-write locks, locks that are tried or timed.
    pub other_locks: u32,
    /// Condition variables.
    pub conditions: u32,
    /// Semaphores, barriers, `pthread_once`.
    pub meetings: u32,
    /// Loops that wait for a value.
    pub waits: u32,
    /// Loops with a bound.
    pub repeats: u32,
    /// What depends on a value seen.
    pub branches: u32,
    /// Assertions.
    pub assertions: u32,
    /// Ends of the process, and of threads before their time.
    pub leaving: u32,
    /// Memory that is allocated, handed over and freed.
    pub sharing: u32,
    /// Signals that a thread raises.
    pub signals: u32,
    /// Functions of the C library on data of the thread.
    pub private: u32,
    /// Of 100 programs, how many have detached threads.
    pub detached: u32,
    /// Of 100 programs, how many have an `atexit` handler.
    pub exit_handlers: u32,
    /// Of 100 plain objects, how many are strings that are only copied.
    pub copied_text: u32,
    /// Of 100 plain objects, how many are strings that functions of the C library read.
    pub read_text: u32,
    /// Of 100 programs, how many have something in `main` beside its threads.
    pub busy_main: u32,
    /// Of 100 programs, how many end otherwise than by `return`.
    pub endings: u32,
}

impl Weights {
    /// What a litmus program can say.
    pub const CORE: Self = Self {
        atomics: 60,
        fences: 8,
        plains: 25,
        mutexes: 8,
        other_locks: 0,
        conditions: 0,
        meetings: 0,
        waits: 6,
        repeats: 0,
        branches: 12,
        assertions: 0,
        leaving: 0,
        sharing: 0,
        signals: 0,
        private: 0,
        detached: 0,
        exit_handlers: 0,
        copied_text: 0,
        read_text: 0,
        busy_main: 0,
        endings: 0,
    };

    /// Everything.
    pub const WIDE: Self = Self {
        atomics: 30,
        fences: 4,
        plains: 22,
        mutexes: 10,
        other_locks: 10,
        conditions: 6,
        meetings: 8,
        waits: 5,
        repeats: 4,
        branches: 8,
        assertions: 3,
        leaving: 2,
        sharing: 6,
        signals: 2,
        private: 8,
        detached: 10,
        exit_handlers: 10,
        copied_text: 12,
        read_text: 12,
        busy_main: 25,
        endings: 25,
    };

    /// What holds everywhere: [`Self::WIDE`] without what is known to be open.
    pub const SETTLED: Self = Self {
        // Races of what `strtol` and `snprintf` read are missed.
        read_text: 0,
        ..Self::WIDE
    };
}

/// How a program's accesses are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// SC, and what is plain under a lock.
    Correct,
    /// SC, and anything goes.
    Sequential,
    /// Any order, and anything goes.
    Any,
}

/// A random program.
pub(super) fn generate(rng: &mut Rng, weights: &Weights) -> Program {
    let care = rng.pick(&[Care::Correct, Care::Sequential, Care::Any, Care::Any]);
    let widths = (0..rng.range(1, 3)).map(|_| rng.pick(&[8, 16, 32, 32, 64]));
    let widths: Vec<u8> = widths.collect();
    let count = rng.range(1, 2);
    let plains: Vec<PlainKind> = (0..count).map(|_| plain(rng, weights)).collect();
    let threads = rng.pick(&[2, 2, 2, 3]);
    let mut drafter = Drafter {
        rng,
        weights,
        care,
        widths: widths.len(),
        plains: plains.len(),
        may_leave: true,
        locked: Vec::new(),
        in_loop: false,
    };
    let most = if threads == 2 { 5 } else { 3 };
    let threads = (0..threads)
        .map(|_| {
            let detached = drafter.rng.percent(weights.detached / 2);
            let may_leave = drafter.may_leave;
            drafter.may_leave &= !detached;
            let count = drafter.rng.range(1, most);
            let body = drafter.body(count);
            if detached {
                drafter.may_leave = may_leave;
            }
            Thread { detached, body }
        })
        .collect();
    drafter.may_leave = false;
    let main = if drafter.rng.percent(weights.busy_main) {
        let count = drafter.rng.range(1, 2);
        drafter.body(count)
    } else {
        Vec::new()
    };
    let at_exit = if drafter.rng.percent(weights.exit_handlers) {
        let count = drafter.rng.range(1, 2);
        (0..count).map(|_| drafter.access()).collect()
    } else {
        Vec::new()
    };
    let ending = if drafter.rng.percent(weights.endings) {
        (drafter.rng).pick(&[Ending::Exit, Ending::QuickExit, Ending::ThreadExit])
    } else {
        Ending::Return
    };
    let build = Build {
        compiler: rng.pick(&["gcc", "gcc", "clang"]),
        level: rng.pick(&[0, 1, 2]),
    };
    Program {
        widths,
        plains,
        main,
        threads,
        at_exit,
        ending,
        build,
    }
}

fn plain(rng: &mut Rng, weights: &Weights) -> PlainKind {
    if rng.percent(weights.copied_text) {
        return PlainKind::Text(TextReader::Copy);
    }
    if rng.percent(weights.read_text) {
        let readers = [TextReader::Compare, TextReader::Number, TextReader::Format];
        return PlainKind::Text(rng.pick(&readers));
    }
    PlainKind::Word
}

struct Drafter<'r> {
    rng: &'r mut Rng,
    weights: &'r Weights,
    care: Care,
    widths: usize,
    plains: usize,
    /// Nothing has ended the process yet: at most one thread may.
    may_leave: bool,
    /// The locks held here.
    locked: Vec<Lock>,
    in_loop: bool,
}

impl Drafter<'_> {
    fn body(&mut self, count: usize) -> Vec<Statement> {
        (0..count).map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Statement {
        let w = self.weights;
        let depth_left = u32::from(self.locked.len() < 2);
        let free = u32::from(self.locked.is_empty());
        let weights = [
            w.atomics,
            w.fences,
            w.plains,
            w.mutexes * depth_left,
            w.other_locks * depth_left,
            w.conditions * free,
            w.meetings,
            w.waits,
            w.repeats * u32::from(!self.in_loop),
            w.branches,
            w.assertions,
            w.leaving * free,
            w.sharing * u32::from(!self.in_loop),
            w.signals,
            w.private,
        ];
        let total: u32 = weights.iter().sum();
        let mut drawn = self.rng.below(total as usize) as u32;
        let kind = weights.iter().position(|weight| {
            let here = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            here
        });
        match kind.expect("below the total") {
            0 => self.atomic(),
            1 => Statement::Fence(self.rng.pick(&[
                FenceOrder::SeqCst,
                FenceOrder::SeqCst,
                FenceOrder::Acquire,
                FenceOrder::Release,
                FenceOrder::AcqRel,
            ])),
            2 => self.plain(),
            3 => self.mutex(),
            4 => self.other_lock(),
            5 => match self.rng.below(3) {
                0 => Statement::WaitForFlag,
                1 => Statement::SetFlag { broadcast: true },
                _ => Statement::SetFlag { broadcast: false },
            },
            6 => self.meeting(),
            7 => Statement::Await {
                atomic: self.rng.below(self.widths) as u8,
                value: self.rng.range(1, 2) as u8,
                order: self.load_order(),
            },
            8 => {
                self.in_loop = true;
                let (times, count) = (self.rng.range(2, 3) as u8, self.rng.range(1, 2));
                let body = self.body(count);
                self.in_loop = false;
                Statement::Repeat { times, body }
            }
            9 => {
                let count = self.rng.range(1, 2);
                Statement::IfSaw {
                    value: self.rng.below(3) as u8,
                    body: self.body(count),
                }
            }
            10 => Statement::Assert(self.rng.below(3) as u8),
            11 => self.leave(),
            12 => match self.rng.below(3) {
                0 => Statement::Share(self.store_order()),
                1 => Statement::Take(self.load_order()),
                _ => Statement::TakeAway(self.rmw_order()),
            },
            13 => Statement::Raise,
            _ => Statement::Private(self.rng.pick(&PRIVATE)),
        }
    }

    fn access(&mut self) -> Statement {
        if self.rng.percent(60) {
            self.atomic()
        } else {
            self.plain()
        }
    }

    fn atomic(&mut self) -> Statement {
        let atomic = self.rng.below(self.widths) as u8;
        let value = self.rng.range(1, 2) as u8;
        match self.rng.below(10) {
            0..4 => Statement::Load {
                atomic,
                order: self.load_order(),
            },
            4..7 => Statement::Store {
                atomic,
                value,
                order: self.store_order(),
            },
            kind => Statement::Rmw {
                atomic,
                change: match kind {
                    7 => Change::Add(value),
                    8 => Change::Exchange(value),
                    _ => Change::Cas {
                        expected: self.rng.below(2) as u8,
                        desired: value,
                    },
                },
                order: self.rmw_order(),
            },
        }
    }

    /// A plain access: under the lock of its object where the program takes care, and
    /// now and then elsewhere.
    fn plain(&mut self) -> Statement {
        let plain = self.rng.below(self.plains) as u8;
        let access = if self.rng.percent(50) {
            Statement::Read(plain)
        } else {
            Statement::Write {
                plain,
                value: self.rng.range(1, 2) as u8,
            }
        };
        let lock = Lock::Mutex(plain % MOST_MUTEXES as u8);
        let is_protected = self.locked.contains(&lock);
        let takes_care = self.care == Care::Correct || self.rng.percent(40);
        if is_protected || !takes_care {
            return access;
        }
        // Locks are taken in their order, where care is taken.
        if self.locked.iter().any(|held| *held > lock) {
            return self.atomic();
        }
        Statement::Locked {
            lock,
            how: Locking::Wait,
            body: vec![access],
        }
    }

    fn mutex(&mut self) -> Statement {
        let lock = Lock::Mutex(self.rng.below(MOST_MUTEXES) as u8);
        self.locked(lock, Locking::Wait)
    }

    fn other_lock(&mut self) -> Statement {
        let how = self
            .rng
            .pick(&[Locking::Wait, Locking::Wait, Locking::Try, Locking::Timed]);
        match self.rng.below(5) {
            0 => {
                let number = self.rng.below(MOST_MUTEXES) as u8;
                let how = if how == Locking::Wait {
                    Locking::Try
                } else {
                    how
                };
                self.locked(Lock::Mutex(number), how)
            }
            1 | 2 => self.locked(Lock::Read, how),
            3 => self.locked(Lock::Write, how),
            _ => {
                let how = if how == Locking::Wait {
                    how
                } else {
                    Locking::Try
                };
                self.locked(Lock::Spin, how)
            }
        }
    }

    fn locked(&mut self, lock: Lock, how: Locking) -> Statement {
        // The same lock twice is misuse. Another order of locks is a deadlock to find.
        let rw = |lock: Lock| matches!(lock, Lock::Read | Lock::Write);
        let again = (self.locked.iter()).any(|held| *held == lock || (rw(*held) && rw(lock)));
        let descends = self.locked.iter().any(|held| *held > lock);
        if again || (descends && self.care == Care::Correct) {
            return self.atomic();
        }
        self.locked.push(lock);
        let count = self.rng.range(1, 2);
        let body = self.body(count);
        self.locked.pop();
        Statement::Locked { lock, how, body }
    }

    fn meeting(&mut self) -> Statement {
        match self.rng.below(8) {
            0..3 => Statement::Post,
            3 => Statement::SemWait,
            4 | 5 => Statement::SemTry,
            6 => Statement::Once,
            _ => Statement::Arrive,
        }
    }

    fn leave(&mut self) -> Statement {
        if self.may_leave && self.rng.percent(60) {
            self.may_leave = false;
            let leaving = [Leaving::Exit, Leaving::QuickExit, Leaving::Abort];
            return Statement::IfSaw {
                value: self.rng.below(2) as u8,
                body: vec![Statement::Leave(self.rng.pick(&leaving))],
            };
        }
        Statement::IfSaw {
            value: self.rng.below(3) as u8,
            body: vec![Statement::Leave(
                self.rng.pick(&[Leaving::ThreadExit, Leaving::Return]),
            )],
        }
    }

    fn is_weak(&mut self) -> bool {
        self.care == Care::Any && self.rng.percent(80)
    }

    fn load_order(&mut self) -> LoadOrder {
        if self.is_weak() {
            self.rng.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire])
        } else {
            LoadOrder::SeqCst
        }
    }

    fn store_order(&mut self) -> StoreOrder {
        if self.is_weak() {
            self.rng.pick(&[StoreOrder::Relaxed, StoreOrder::Release])
        } else {
            StoreOrder::SeqCst
        }
    }

    fn rmw_order(&mut self) -> RmwOrder {
        if self.is_weak() {
            self.rng.pick(&[
                RmwOrder::Relaxed,
                RmwOrder::Acquire,
                RmwOrder::Release,
                RmwOrder::AcqRel,
            ])
        } else {
            RmwOrder::SeqCst
        }
    }
}

const PRIVATE: [Private; 12] = [
    Private::ThreadLocal,
    Private::Heap,
    Private::Grow,
    Private::Strings,
    Private::Numbers,
    Private::Sort,
    Private::Environment,
    Private::Yield,
    Private::Sleep,
    Private::Mask,
    Private::Key,
    Private::Clock,
];
