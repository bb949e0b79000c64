use alloc::vec::Vec;

use super::*;
use crate::event::SiteId;

fn step(thread: u32, object: u64, writes: bool) -> Step {
    Step {
        actor: Actor { thread },
        site: SiteId(thread),
        accesses: [Access::to(object, writes)].into_iter().collect(),
        waits: None,
        writes_before: None,
        repeats: false,
    }
}

/// Runs threads that have no branches, the prefix first, then the lowest one that is
/// awake, and counts the runs.
fn classes(threads: &[&[(u64, bool)]]) -> (u64, u64) {
    let mut explorer = Explorer::default();
    while let Some(assignment) = explorer.assign() {
        let run = run_once(threads, &assignment);
        explorer.finish(assignment.leaf, &run).unwrap();
    }
    let progress = explorer.progress();
    assert_eq!((progress.open, progress.fraction), (0, 1.0));
    (progress.classes, progress.redundant)
}

fn run_once(threads: &[&[(u64, bool)]], assignment: &Assignment) -> Run {
    let mut next = alloc::vec![0; threads.len()];
    let mut asleep: Vec<u32> = assignment.asleep.iter().map(|actor| actor.thread).collect();
    let mut prefix = assignment.prefix.iter();
    let mut run = Run::default();
    loop {
        let able = |t: &usize| next[*t] < threads[*t].len();
        let awake = |t: &usize| !asleep.contains(&(*t as u32));
        let chosen = match prefix.next() {
            Some(actor) => actor.thread as usize,
            None => {
                let all = 0..threads.len();
                let Some(chosen) = all
                    .clone()
                    .filter(able)
                    .find(awake)
                    .or(all.clone().find(able))
                else {
                    return run;
                };
                chosen
            }
        };
        let (object, writes) = threads[chosen][next[chosen]];
        next[chosen] += 1;
        if prefix.len() == 0 {
            asleep.retain(|&t| {
                if t as usize == chosen {
                    return false;
                }
                let &(theirs, write) = &threads[t as usize][next[t as usize]];
                theirs != object || !(writes || write)
            });
        }
        run.steps.push(step(chosen as u32, object, writes));
    }
}

#[test]
fn independent_threads_have_one_class() {
    assert_eq!(classes(&[&[(1, true), (2, true)], &[(3, true)]]), (1, 0));
    assert_eq!(classes(&[&[(1, false)], &[(1, false)]]), (1, 0));
}

#[test]
fn dependent_steps_are_taken_in_every_order() {
    assert_eq!(classes(&[&[(1, true)], &[(1, true)], &[(1, true)]]), (6, 0));
    assert_eq!(
        classes(&[&[(1, true)], &[(1, false)], &[(1, false)]]),
        (4, 0)
    );
    // Store buffering: three of the four combinations.
    assert_eq!(
        classes(&[&[(1, true), (2, false)], &[(2, true), (1, false)]]),
        (3, 0)
    );
}

#[test]
fn several_runs_at_once_change_nothing() {
    let threads: &[&[(u64, bool)]] = &[&[(1, true); 2], &[(1, true); 2], &[(1, true); 2]];
    for at_once in [1, 2, 5] {
        let mut explorer = Explorer::default();
        loop {
            let under_way: Vec<Assignment> = core::iter::from_fn(|| explorer.assign())
                .take(at_once)
                .collect();
            if under_way.is_empty() {
                break;
            }
            for assignment in under_way {
                let run = run_once(threads, &assignment);
                explorer.finish(assignment.leaf, &run).unwrap();
            }
        }
        let progress = explorer.progress();
        assert_eq!((progress.classes, progress.redundant), (90, 0), "{at_once}");
    }
}

#[test]
fn a_saved_exploration_goes_on() {
    let threads: &[&[(u64, bool)]] = &[
        &[(1, true), (2, true)],
        &[(2, true), (1, true)],
        &[(1, true)],
    ];
    let (whole, _) = classes(threads);
    let mut explorer = Explorer::default();
    let mut pauses = 0;
    while let Some(assignment) = explorer.assign() {
        let run = run_once(threads, &assignment);
        explorer.finish(assignment.leaf, &run).unwrap();
        let progress = explorer.progress();
        explorer = Explorer::restore(&explorer.save(), explorer.totals()).unwrap();
        assert_eq!(explorer.progress(), progress);
        pauses += 1;
    }
    assert_eq!(explorer.progress().classes, whole);
    assert_eq!(pauses, whole);
    assert!(Explorer::restore(&[], Totals::default()).is_none());
}

#[test]
fn a_run_that_begins_otherwise_is_told() {
    let threads: &[&[(u64, bool)]] = &[&[(1, true)], &[(1, true)]];
    let mut explorer = Explorer::default();
    let first = explorer.assign().unwrap();
    let run = run_once(threads, &first);
    explorer.finish(first.leaf, &run).unwrap();
    let second = explorer.assign().unwrap();
    let diverged = explorer.finish(second.leaf, &run).unwrap_err();
    assert_eq!((diverged.step, diverged.actor.thread), (0, 1));
    assert_eq!(explorer.progress().open, 1);
}

#[test]
fn parts_are_as_much_as_the_whole() {
    let threads: &[&[(u64, bool)]] = &[
        &[(1, true), (2, true), (3, true)],
        &[(4, true), (1, true), (2, true)],
        &[(5, true), (2, true), (1, false)],
    ];
    let (whole, _) = classes(threads);
    for total in [1, 2, 3, 7, 1000] {
        let mut frontier = Frontier::new(4 * total);
        while let Some(assignment) = frontier.assign() {
            frontier.finish(run_once(threads, &assignment));
        }
        let mut found = 0;
        for number in 0..total {
            let mut part = frontier.part(number, total);
            let open = part.progress().open;
            assert_eq!(part.progress().fraction, if open == 0 { 1.0 } else { 0.0 });
            while let Some(assignment) = part.assign() {
                let run = run_once(threads, &assignment);
                part.finish(assignment.leaf, &run).unwrap();
                let fraction = part.progress().fraction;
                assert!((0.0..=1.0).contains(&fraction), "{fraction}");
                part = Explorer::restore(&part.save(), part.totals()).unwrap();
                assert_eq!(part.progress().fraction, fraction);
            }
            assert_eq!((part.progress().open, part.progress().fraction), (0, 1.0));
            found += part.progress().classes;
        }
        assert_eq!(found, whole, "{total} parts");
    }
}
