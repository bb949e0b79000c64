//! Random SC runs: a memory, some threads and a die. Everything that events can
//! say is in them, as a well-behaved runtime would say it.

use super::run::{Run, bytes};
use crate::event::{
    CasOutcome, CasStrength, LocationId, LockId, LockMode, LoopExit, Operation, ThreadId,
};
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// A small generator of random numbers (xorshift64*): a seed means the same run
/// for ever.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// What runs look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    pub(super) threads: u32,
    pub(super) locations: u32,
    pub(super) steps: usize,
    /// Chances in percent; what is not SC is relaxed or stronger.
    pub(super) sc: u64,
    pub(super) relaxed: u64,
    pub(super) fences: u64,
    pub(super) locks: u64,
    pub(super) lifetimes: u64,
    pub(super) untold: u64,
}

impl Profile {
    /// A profile of its own for every seed.
    pub(super) fn varied(dice: &mut Dice) -> Self {
        Self {
            threads: 2 + dice.below(3) as u32,
            locations: 2 + dice.below(2) as u32,
            steps: 5 + dice.below(18) as usize,
            sc: dice.pick(&[0, 20, 60]),
            relaxed: dice.pick(&[30, 60, 90]),
            fences: dice.pick(&[0, 10, 25]),
            locks: dice.pick(&[0, 0, 12]),
            lifetimes: dice.pick(&[0, 0, 5]),
            untold: dice.pick(&[0, 0, 0, 5]),
        }
    }
}

/// A run of threads 1, 2, … that thread 0 creates.
pub(super) fn run(dice: &mut Dice, profile: Profile) -> Run {
    let mut world = World {
        run: Run::default(),
        values: vec![0; profile.locations as usize],
        running: (1..=profile.threads).map(ThreadId).collect(),
        lock: HeldLock::default(),
        profile,
    };
    for location in 0..profile.locations {
        world.run.birth(location, 0);
    }
    for &child in &world.running {
        world.run.push(0, Operation::Create { child });
    }
    while world.run.events.len() < profile.steps + (profile.locations + profile.threads) as usize {
        world.step(dice);
    }
    world.run
}

struct World {
    run: Run,
    values: Vec<u64>,
    running: Vec<ThreadId>,
    lock: HeldLock,
    profile: Profile,
}

/// Who holds the one lock.
#[derive(Default)]
struct HeldLock {
    owner: Option<u32>,
    readers: Vec<u32>,
}

impl World {
    fn step(&mut self, dice: &mut Dice) {
        let profile = self.profile;
        let thread = dice.pick(&self.running).0;
        if dice.percent(profile.locks) {
            self.lock(dice, thread);
        } else if dice.percent(profile.lifetimes) {
            self.lifetime(dice, thread);
        } else if dice.percent(profile.fences) {
            let orders = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel];
            let order = match dice.percent(60) {
                true => FenceOrder::SeqCst,
                false => dice.pick(&orders),
            };
            self.run.fence(thread, order);
        } else {
            let location = dice.below(u64::from(profile.locations)) as u32;
            if dice.percent(profile.untold) {
                self.values[location as usize] = 3 + dice.below(2);
            }
            let operation = access(dice, profile, location, &mut self.values[location as usize]);
            self.run.push(thread, operation);
        }
    }

    fn lock(&mut self, dice: &mut Dice, thread: u32) {
        const LOCK: LockId = LockId(7);
        let held = &mut self.lock;
        let (acquire, mode) = if held.owner == Some(thread) {
            held.owner = None;
            (false, LockMode::Exclusive)
        } else if let Some(at) = held.readers.iter().position(|&reader| reader == thread) {
            held.readers.swap_remove(at);
            (false, LockMode::Shared)
        } else if held.owner.is_none() && held.readers.is_empty() && dice.percent(60) {
            held.owner = Some(thread);
            (true, LockMode::Exclusive)
        } else if held.owner.is_none() && dice.percent(60) {
            held.readers.push(thread);
            (true, LockMode::Shared)
        } else {
            (dice.percent(50), LockMode::Signal)
        };
        let lock = LOCK;
        self.run.push(
            thread,
            match acquire {
                true => Operation::Acquire { lock, mode },
                false => Operation::Release { lock, mode },
            },
        );
    }

    /// Locations and threads that come and go.
    fn lifetime(&mut self, dice: &mut Dice, thread: u32) {
        let location = dice.below(u64::from(self.profile.locations)) as u32;
        match dice.below(3) {
            0 => {
                self.run.push(
                    thread,
                    Operation::Death {
                        bytes: bytes(location),
                    },
                );
                self.run.birth(location, 1);
                self.values[location as usize] = 1;
            }
            1 => {
                self.run.push(
                    thread,
                    Operation::Write {
                        bytes: bytes(location),
                    },
                );
                self.values[location as usize] = dice.below(3);
            }
            _ if self.running.len() > 2 && self.lock.owner != Some(thread) => {
                self.running.retain(|other| other.0 != thread);
                self.run.push(thread, Operation::Exit);
                let joiner = dice.pick(&self.running).0;
                let child = ThreadId(thread);
                self.run.push(joiner, Operation::Join { child });
            }
            _ => {}
        }
    }
}

/// A random atomic access of what holds `current`.
pub(super) fn access(
    dice: &mut Dice,
    profile: Profile,
    location: u32,
    current: &mut u64,
) -> Operation {
    let location = LocationId(location);
    let sc = dice.percent(profile.sc);
    let relaxed = dice.percent(profile.relaxed);
    let load = match sc {
        true => LoadOrder::SeqCst,
        false if relaxed => LoadOrder::Relaxed,
        false => LoadOrder::Acquire,
    };
    let rmw = |dice: &mut Dice| match sc {
        true => RmwOrder::SeqCst,
        false if relaxed => RmwOrder::Relaxed,
        false => dice.pick(&[RmwOrder::Acquire, RmwOrder::Release, RmwOrder::AcqRel]),
    };
    let read = *current;
    match dice.below(10) {
        0..4 => Operation::Load {
            location,
            order: load,
            value: read,
            exit: dice.percent(15).then_some(LoopExit::equal(dice.below(3))),
        },
        4..7 => {
            *current = dice.below(3);
            Operation::Store {
                location,
                order: match sc {
                    true => StoreOrder::SeqCst,
                    false if relaxed => StoreOrder::Relaxed,
                    false => StoreOrder::Release,
                },
                value: *current,
            }
        }
        7 => {
            *current = dice.below(3);
            Operation::Rmw {
                location,
                order: rmw(dice),
                read,
                written: *current,
                exit: dice.percent(25).then_some(LoopExit::equal(dice.below(3))),
            }
        }
        _ => {
            let expected = dice.below(3);
            let strength = dice.pick(&[CasStrength::Weak, CasStrength::Strong]);
            let fails_for_nothing = strength == CasStrength::Weak && dice.percent(20);
            let exchanges = read == expected && !fails_for_nothing;
            let written = dice.below(3);
            if exchanges {
                *current = written;
            }
            Operation::CompareExchange {
                location,
                success: rmw(dice),
                failure: match dice.percent(50) {
                    true => LoadOrder::Relaxed,
                    false => load,
                },
                strength,
                expected,
                read,
                outcome: match exchanges {
                    true => CasOutcome::Exchanged(written),
                    false => CasOutcome::Failed,
                },
                blocking: dice.percent(20),
            }
        }
    }
}
