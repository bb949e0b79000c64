//! How much of what can happen the strategies reach, on programs that exist
//! only as numbers: how many threads, how many operations each.

use alloc::vec;
use alloc::vec::Vec;
use std::collections::BTreeSet;

use super::*;

/// Runs `operations` under a strategy, as the scheduler would: thread 0 starts
/// the others and waits for them. The order in which operations happened.
fn run(strategy: &mut impl Strategy, operations: &[usize]) -> Vec<u32> {
    run_accesses(strategy, operations, |_, _| Pending::Other)
}

/// The same of operations of which something is known: what a thread is about to do
/// that has so many operations left.
fn run_accesses(
    strategy: &mut impl Strategy,
    operations: &[usize],
    pending: impl Fn(u32, usize) -> Pending,
) -> Vec<u32> {
    let threads = operations.len() as u32;
    let mut left = vec![0];
    left.extend_from_slice(operations);
    let mut candidates = vec![0];
    strategy.started(0);
    let mut version = 0;
    let mut created = 0;
    let mut current = 0;
    let mut order = Vec::new();
    let mut begun = vec![false; operations.len() + 1];
    loop {
        if current == 0 && created < threads {
            if candidates.len() > 1 {
                current = strategy.choose(&Point {
                    current,
                    candidates: &candidates,
                    version,
                    kind: Kind::Create,
                    object: None,
                    pending: Pending::Other,
                });
                if current != 0 {
                    continue;
                }
            }
            created += 1;
            strategy.started(created);
            candidates.push(created);
            version += 1;
            continue;
        }
        let done = left[current as usize] == 0;
        if done {
            candidates.retain(|&thread| thread != current);
            version += 1;
        }
        if candidates.is_empty() {
            return order;
        }
        let kind = if done { Kind::Stop } else { Kind::Operation };
        let pending = match done {
            true => Pending::Other,
            false => pending(current, left[current as usize]),
        };
        let next = strategy.choose(&Point {
            current,
            candidates: &candidates,
            version,
            kind,
            object: None,
            pending,
        });
        assert!(candidates.contains(&next));
        if next == current && !done {
            left[current as usize] -= 1;
            order.push(current);
        } else if next != current && left[next as usize] > 0 && begun[next as usize] {
            // It was parked before its operation, and now makes it. One that
            // has just begun is asked once more.
            left[next as usize] -= 1;
            order.push(next);
        }
        begun[next as usize] = true;
        current = next;
    }
}

fn reached(operations: &[usize], runs: u64, make: impl Fn(u64) -> AnyStrategy) -> usize {
    let orders: BTreeSet<Vec<u32>> = (0..runs)
        .map(|seed| run(&mut make(seed), operations))
        .collect();
    orders.len()
}

fn pct(seed: u64) -> AnyStrategy {
    AnyStrategy::Pct(Pct::new(seed, None, None))
}

fn random(seed: u64) -> AnyStrategy {
    AnyStrategy::Random(Random::new(seed))
}

fn seek(seed: u64) -> AnyStrategy {
    AnyStrategy::Seek(Seek::new(seed))
}

fn pos(seed: u64) -> AnyStrategy {
    AnyStrategy::Pos(Pos::new(seed))
}

fn mixed(seed: u64) -> AnyStrategy {
    AnyStrategy::mixed(seed, None, None)
}

#[test]
fn runs_of_which_no_strategy_was_asked_for_differ() {
    let kinds: Vec<char> = (0..160)
        .map(|seed| match mixed(seed) {
            AnyStrategy::Seek(_) => 's',
            AnyStrategy::Pct(_) => 'p',
            AnyStrategy::Pos(_) => 'o',
            other => panic!("{other:?}"),
        })
        .collect();
    let count = |kind| kinds.iter().filter(|&&one| one == kind).count();
    assert!(
        count('s') > 110 && count('p') > 10 && count('o') > 4,
        "{kinds:?}"
    );
    assert_eq!(reached(&[2, 2], 100, mixed), 6);
    let of_twenty = reached(&[3, 3], 200, mixed);
    assert!(of_twenty >= 18, "{of_twenty} of 20");
}

/// A point before an access of thread 0 to an object.
fn before_access(object: u32) -> Point<'static> {
    Point {
        current: 0,
        candidates: &[0, 1],
        version: 0,
        kind: Kind::Operation,
        object: Some(object),
        pending: Pending::Other,
    }
}

#[test]
fn a_thread_that_would_look_at_its_own_write_lets_others_look_first() {
    // How often the other thread is next, where thread 0 has written the object, and
    // where thread 1 has.
    let others = [0, 1].map(|writer| {
        let goes_on = (0..1000).filter(|&seed| {
            let mut seek = Seek::new(seed);
            (0..2).for_each(|thread| seek.started(thread));
            seek.wrote(writer, 5);
            seek.choose(&before_access(5)) == 1
        });
        goes_on.count()
    });
    assert!(others[0] > others[1] + 250, "{others:?} of 1000");
}

/// Two threads that do nothing but write one object: in how many runs of 2,000 they take
/// turns six times in a row.
fn alternations(make: impl Fn(u64) -> AnyStrategy) -> usize {
    let alternates = |seed: &u64| {
        let mut strategy = make(*seed);
        (0..2).for_each(|thread| strategy.started(thread));
        strategy.wrote(0, 5);
        let mut current = 0;
        (0..6).all(|_| {
            let point = Point {
                current,
                ..before_access(5)
            };
            let next = strategy.choose(&point);
            strategy.wrote(next, 5);
            core::mem::replace(&mut current, next) != next
        })
    };
    (0..2000).filter(alternates).count()
}

#[test]
fn threads_take_turns_at_one_object_more_often_than_in_a_uniform_walk() {
    let [by_seeking, by_walk] = [alternations(seek), alternations(random)];
    assert!(by_seeking > 3 * by_walk, "{by_seeking}, {by_walk} of 2000");
}

#[test]
fn priorities_change_after_the_walk_of_a_mixed_run() {
    // The turn is taken from a thread that goes on later: two changes and more.
    let is_interrupted = |seed: &u64| {
        let order = run(&mut Pct::mixed(*seed), &[200, 200]);
        let changes = order[70..].windows(2).filter(|pair| pair[0] != pair[1]);
        changes.count() > 1
    };
    let interrupted = (0..400).filter(is_interrupted).count();
    assert!(interrupted > 70, "{interrupted} of 400");
}

/// Threads 1 and 2 write an object each, 3 and 4 read both: in how many runs of
/// 20,000 both reads of thread 3 come between the two writes, and thread 4 reads when
/// all is written.
fn readers_between_writers(make: impl Fn(u64) -> AnyStrategy) -> usize {
    let access = |thread: u32, left: usize| Pending::Access {
        address: match (thread, left) {
            (1, _) | (3, 2) | (4, 1) => 8,
            _ => 16,
        },
        size: 4,
        writes: thread < 3,
    };
    let is_rare = |seed: &u64| {
        let order = run_accesses(&mut make(*seed), &[1, 1, 2, 2], access);
        let first = |thread| order.iter().position(|&one| one == thread);
        let last = |thread| order.iter().rposition(|&one| one == thread);
        first(1) < first(3) && last(3) < first(2) && first(2) < first(4)
    };
    (0..20_000).filter(is_rare).count()
}

#[test]
fn samples_of_partial_orders_reach_rare_ones_more_often_than_a_uniform_walk() {
    let [by_samples, by_walk] = [
        readers_between_writers(pos),
        readers_between_writers(random),
    ];
    assert!(
        4 * by_samples > 5 * by_walk,
        "{by_samples}, {by_walk} of 20000"
    );
    assert_eq!(reached(&[2, 2], 100, pos), 6);
}

#[test]
fn a_hundred_runs_reach_nearly_every_order_of_a_tiny_program() {
    // Two threads of two operations have 6 orders, of three 20.
    assert_eq!(reached(&[2, 2], 100, pct), 6);
    assert_eq!(reached(&[2, 2], 100, random), 6);
    let of_twenty = reached(&[3, 3], 100, pct);
    assert!(of_twenty >= 17, "{of_twenty} of 20");
    // Three threads of two have 90: a hundred draws cannot have them all.
    let of_ninety = reached(&[2, 2, 2], 100, pct);
    assert!(of_ninety >= 38, "{of_ninety} of 90");
    assert!(reached(&[2, 2, 2], 1000, pct) >= 80);
}

#[test]
fn every_thread_runs_alone_before_the_others_as_often_as_any() {
    let operations = [4, 4, 4];
    let mut first = [0; 4];
    for seed in 0..600 {
        let order = run(&mut pct(seed), &operations);
        assert_eq!(order.len(), 12);
        if order[..4].iter().all(|&thread| thread == order[0]) {
            first[order[0] as usize] += 1;
        }
    }
    let [_, one, two, three] = first;
    for count in [one, two, three] {
        assert!((25..200).contains(&count), "{first:?}");
    }
}

#[test]
fn the_turn_is_taken_between_any_two_operations() {
    // After how many operations of a thread another one runs for the first time.
    let mut interrupted = BTreeSet::new();
    for seed in 0..300 {
        let order = run(&mut pct(seed), &[6, 6]);
        let alone = order.iter().take_while(|&&thread| thread == order[0]);
        interrupted.insert((order[0], alone.count()));
    }
    assert_eq!(interrupted.len(), 12);
}

#[test]
fn the_same_seed_makes_the_same_choices() {
    for seed in 0..50 {
        let operations = [5, 3, 7, 2];
        for make in [pct, random, seek, pos, mixed] {
            let [first, again] = [0; 2].map(|_| run(&mut make(seed), &operations));
            assert_eq!(first, again);
        }
    }
}

#[test]
fn a_long_program_is_interrupted_late_as_well() {
    let late = (0..400)
        .filter(|&seed| {
            let order = run(&mut pct(seed), &[2000, 2000]);
            let alone = order.iter().take_while(|&&thread| thread == order[0]);
            (100..2000).contains(&alone.count())
        })
        .count();
    assert!(late >= 10, "{late} of 400");
}
