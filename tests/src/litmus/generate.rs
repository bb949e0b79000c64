//! Random programs. Whatever a profile asks for is drawn from one generator of
//! random numbers, so that a seed is a program.

use super::draft::Draft;
use super::program::{Instruction, Program};
use crate::rng::Rng;

/// What random programs look like. Probabilities are in percent.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// How many threads.
    pub threads: usize,
    /// The most accesses of a thread.
    pub accesses: usize,
    /// How many locations.
    pub locations: usize,
    /// An access is SC.
    pub sc: u32,
    /// An SC fence stands before an access.
    pub sc_fence: u32,
    /// Another fence stands before an access.
    pub weak_fence: u32,
    /// An access that is not SC is weaker than acquire or release.
    pub relaxed: u32,
    /// An access is a fetch-add or an exchange.
    pub rmw: u32,
    /// An access is a compare-exchange.
    pub cas: u32,
    /// An access is a wait or a blocking compare-exchange.
    pub blocking: u32,
    /// An access depends on a value read before.
    pub skip: u32,
    /// An access lies between lock and unlock.
    pub lock: u32,
    /// The last thread is started by the first.
    pub create: u32,
}

impl Profile {
    /// A bit of everything.
    pub const PLAIN: Self = Self {
        threads: 2,
        accesses: 4,
        locations: 2,
        sc: 0,
        sc_fence: 15,
        weak_fence: 5,
        relaxed: 30,
        rmw: 20,
        cas: 7,
        blocking: 7,
        skip: 10,
        lock: 0,
        create: 0,
    };
}

/// A random program of one of many shapes.
pub fn varied(rng: &mut Rng) -> Program {
    let sc = rng.pick(&[0, 0, 20, 30, 50, 80]);
    match rng.below(7) {
        0 | 1 => {
            let profile = Profile {
                threads: rng.pick(&[2, 2, 3, 3, 3, 4]),
                sc,
                sc_fence: rng.pick(&[0, 15, 50, 80]),
                weak_fence: 10,
                relaxed: rng.pick(&[30, 70, 100]),
                rmw: rng.pick(&[3, 20]),
                ..Profile::PLAIN
            };
            around_cycle(rng, &profile)
        }
        2 => {
            // Values decide: waits and compare-exchanges everywhere.
            let profile = Profile {
                sc,
                sc_fence: rng.pick(&[0, 20]),
                relaxed: rng.pick(&[30, 80]),
                rmw: 10,
                cas: 30,
                blocking: 30,
                ..Profile::PLAIN
            };
            random(rng, &profile)
        }
        3 => {
            // Few locations and mixed orders on one location.
            let profile = Profile {
                threads: 3,
                accesses: 3,
                sc: rng.pick(&[30, 50]),
                sc_fence: rng.pick(&[10, 40]),
                weak_fence: 20,
                relaxed: rng.pick(&[30, 70]),
                rmw: 15,
                cas: 2,
                blocking: 2,
                ..Profile::PLAIN
            };
            random(rng, &profile)
        }
        4 => {
            // Order from elsewhere: mutexes and threads that start late.
            let profile = Profile {
                threads: rng.pick(&[2, 3]),
                accesses: 3,
                locations: rng.pick(&[2, 3]),
                sc,
                sc_fence: rng.pick(&[0, 20]),
                lock: rng.pick(&[0, 20, 40]),
                create: rng.pick(&[0, 50, 100]),
                ..Profile::PLAIN
            };
            random(rng, &profile)
        }
        _ => {
            let profile = Profile {
                threads: rng.pick(&[2, 3]),
                accesses: rng.pick(&[3, 4]),
                locations: rng.pick(&[2, 3]),
                sc,
                sc_fence: rng.pick(&[0, 20, 40]),
                weak_fence: rng.pick(&[5, 20]),
                relaxed: rng.pick(&[30, 80]),
                ..Profile::PLAIN
            };
            random(rng, &profile)
        }
    }
}

/// A random program: each thread is a random sequence of accesses.
pub fn random(rng: &mut Rng, profile: &Profile) -> Program {
    let mut draft = Draft::new(rng, profile);
    let late = draft.rng.percent(profile.create) && profile.threads > 1;
    for thread in 0..profile.threads {
        draft.builder.thread();
        let least = if profile.threads > 2 { 1 } else { 2 };
        let accesses = draft.rng.range(least, profile.accesses.max(least));
        let create_at = draft.rng.below(accesses);
        let join_after = draft
            .rng
            .percent(60)
            .then(|| draft.rng.range(create_at, accesses));
        let mut readable = None;
        for n in 0..accesses {
            if late && thread == 0 && n == create_at {
                let thread = last_thread(profile);
                draft.builder.push(Instruction::Create { thread });
            }
            if n > 0 {
                draft.maybe_fence();
            }
            let location = draft.location();
            let access = draft.any_access(location);
            let locked = draft.rng.percent(profile.lock) && !is_blocking(&access);
            if let Some(register) = readable
                && draft.rng.percent(profile.skip)
            {
                let skip = draft.skip(register, if locked { 3 } else { 1 });
                draft.builder.push(skip);
            }
            if locked {
                draft.locked(access);
            } else {
                draft.builder.push(access);
            }
            readable = access.result().or(readable);
            if late && thread == 0 && join_after == Some(n) {
                let thread = last_thread(profile);
                draft.builder.push(Instruction::Join { thread });
            }
        }
    }
    draft.builder.finish("random")
}

/// A random program around a critical cycle: threads of two accesses to
/// different locations that communicate in a ring, then fences, further
/// accesses and a further thread thrown in.
pub fn around_cycle(rng: &mut Rng, profile: &Profile) -> Program {
    let ring = profile.threads.max(2);
    let locations = if ring == 2 {
        2
    } else {
        rng.pick(&[2, 3, 3]).min(ring)
    };
    let mut draft = Draft::new(
        rng,
        &Profile {
            locations,
            ..*profile
        },
    );
    let edges = loop {
        let edges: Vec<usize> = (0..ring).map(|_| draft.rng.below(locations)).collect();
        if (0..ring).all(|i| edges[i] != edges[(i + 1) % ring]) {
            break edges;
        }
        // An odd ring over two locations has no such edges.
        if ring % 2 == 1 && locations == 2 {
            break (0..ring).map(|i| i % 2).collect();
        }
    };
    // Whether the edge into a thread starts at a write, and ends at one.
    let kinds: Vec<(bool, bool)> = (0..ring)
        .map(|_| {
            draft
                .rng
                .pick(&[(true, false), (false, true), (false, true), (true, true)])
        })
        .collect();
    let mut threads: Vec<Vec<Instruction>> = Vec::new();
    for i in 0..ring {
        let before = (i + ring - 1) % ring;
        let first = draft.cycle_access(kinds[before].1, edges[before]);
        let second = draft.cycle_access(kinds[i].0, edges[i]);
        let mut thread = vec![first];
        thread.extend(draft.fence());
        if let Some(register) = first.result()
            && draft.rng.percent(profile.skip)
        {
            thread.push(draft.skip(register, 1));
        }
        thread.push(second);
        threads.push(thread);
    }
    if ring < 4 && draft.rng.percent(25) {
        let (write, location) = (draft.rng.percent(50), draft.rng.below(locations));
        threads.push(vec![draft.cycle_access(write, location)]);
    }
    while draft.rng.percent(50) && threads.iter().map(Vec::len).sum::<usize>() < 11 {
        let (write, location) = (draft.rng.percent(50), draft.rng.below(locations));
        let extra = if draft.rng.percent(25) {
            draft.some_fence()
        } else {
            draft.cycle_access(write, location)
        };
        let thread = draft.rng.below(threads.len());
        let thread = &mut threads[thread];
        let place = if thread.iter().any(Instruction::is_skip) {
            thread.len()
        } else {
            draft.rng.below(thread.len() + 1)
        };
        thread.insert(place, extra);
    }
    for thread in threads {
        draft.builder.thread();
        for instruction in thread {
            draft.builder.push(instruction);
        }
    }
    draft.builder.finish("cycle")
}

/// A random program in which plain accesses may or may not race: messages are
/// passed with and without the orders, fences, mutexes and joins that it takes.
pub fn with_plain(rng: &mut Rng) -> Program {
    let profile = Profile {
        threads: rng.pick(&[2, 2, 3]),
        accesses: rng.pick(&[3, 4]),
        locations: rng.pick(&[1, 2]),
        sc: rng.pick(&[0, 0, 30]),
        sc_fence: rng.pick(&[0, 10]),
        weak_fence: rng.pick(&[0, 20, 40]),
        relaxed: rng.pick(&[0, 30, 70]),
        rmw: rng.pick(&[0, 30]),
        ..Profile::PLAIN
    };
    let locks = rng.pick(&[0, 20, 50]);
    // Now and then an atomic location is also accessed as if it were not.
    let mixed = rng.pick(&[0, 0, 20]);
    let mut draft = Draft::new(rng, &profile);
    let plain = [draft.builder.location("p"), draft.builder.location("q")];
    let late = draft.rng.percent(25);
    for thread in 0..profile.threads {
        draft.builder.thread();
        let steps = draft.rng.range(2, profile.accesses);
        let create_at = draft.rng.below(steps);
        let mut guard = None;
        for n in 0..steps {
            if late && thread == 0 && n == create_at {
                let thread = last_thread(&profile);
                draft.builder.push(Instruction::Create { thread });
            }
            draft.maybe_fence();
            let place = if draft.rng.percent(mixed) {
                draft.location()
            } else {
                draft.rng.pick(&plain)
            };
            let plain_access = if draft.rng.percent(50) {
                Instruction::Read { location: place }
            } else {
                let value = draft.rng.range(1, 2) as u64;
                Instruction::Write {
                    location: place,
                    value,
                }
            };
            if draft.rng.percent(locks) {
                draft.locked(plain_access);
            } else if draft.rng.percent(45) {
                let location = draft.location();
                let access = draft.any_access(location);
                draft.builder.push(access);
                guard = access.result().or(guard);
            } else {
                if let Some(register) = guard
                    && draft.rng.percent(60)
                {
                    let skip = draft.skip(register, 1);
                    draft.builder.push(skip);
                }
                draft.builder.push(plain_access);
            }
        }
        if late && thread == 0 && draft.rng.percent(60) {
            let thread = last_thread(&profile);
            draft.builder.push(Instruction::Join { thread });
            draft.builder.push(Instruction::Write {
                location: plain[0],
                value: 3,
            });
        }
    }
    draft.builder.finish("plain")
}

fn last_thread(profile: &Profile) -> u8 {
    u8::try_from(profile.threads - 1).expect("few threads")
}

fn is_blocking(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Wait { .. } | Instruction::BlockingCompareExchange { .. }
    )
}

/// A random program of many accesses, too many to go through all of its runs.
pub fn large(rng: &mut Rng) -> Program {
    let threads = rng.pick(&[3, 4, 4, 5, 6]);
    let profile = Profile {
        threads,
        accesses: 36 / threads,
        locations: rng.pick(&[2, 3, 4]),
        sc: rng.pick(&[0, 15, 30, 60]),
        sc_fence: rng.pick(&[0, 10, 25]),
        weak_fence: rng.pick(&[5, 15]),
        relaxed: rng.pick(&[20, 50, 90]),
        rmw: rng.pick(&[5, 20]),
        cas: rng.pick(&[0, 10]),
        blocking: 0,
        skip: 5,
        lock: rng.pick(&[0, 0, 10]),
        create: rng.pick(&[0, 50]),
    };
    random(rng, &profile)
}

/// A random program whose threads come and go: each but the first is created by
/// an earlier one, which waits for the end of most before it goes on.
pub fn coming_and_going(rng: &mut Rng) -> Program {
    let profile = Profile {
        threads: rng.range(4, 7),
        accesses: 3,
        locations: rng.pick(&[2, 3]),
        sc: rng.pick(&[0, 30, 60]),
        sc_fence: rng.pick(&[0, 15]),
        weak_fence: 10,
        relaxed: rng.pick(&[20, 60]),
        rmw: 15,
        blocking: 0,
        ..Profile::PLAIN
    };
    let mut draft = Draft::new(rng, &profile);
    let parents: Vec<usize> = (0..profile.threads)
        .map(|t| {
            if t < 2 || draft.rng.percent(80) {
                0
            } else {
                draft.rng.range(1, t - 1)
            }
        })
        .collect();
    for thread in 0..profile.threads {
        draft.builder.thread();
        draft.accesses(if thread == 0 { 1 } else { 2 });
        let mut unjoined = Vec::new();
        for child in (thread + 1..profile.threads).filter(|&c| parents[c] == thread) {
            let child = child as u8;
            draft.builder.push(Instruction::Create { thread: child });
            draft.accesses(2);
            if draft.rng.percent(60) {
                draft.builder.push(Instruction::Join { thread: child });
            } else {
                unjoined.push(child);
            }
        }
        for child in unjoined {
            if draft.rng.percent(60) {
                draft.builder.push(Instruction::Join { thread: child });
                draft.accesses(1);
            }
        }
    }
    draft.builder.finish("coming and going")
}
