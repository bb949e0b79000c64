//! Runs that do not depend on each other, several at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::run::Deadline;

/// Does the work of every number below `count`, `jobs` at a time, and gives what came
/// of each with its number. What comes of it does not depend on how many; after an
/// interrupt or the deadline the rest is left out.
pub(super) fn each<T: Send>(
    jobs: usize,
    count: usize,
    deadline: Deadline,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<(usize, T)>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, anyhow::Result<T>>> = Mutex::default();
    let take = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || deadline.is_over() {
                return;
            }
            let result = work(number);
            let mut results = results.lock().expect("no panic while locked");
            results.insert(number, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            scope.spawn(take);
        }
    });
    let results = results.into_inner().expect("no panic while locked");
    let numbered = results.into_iter();
    numbered
        .map(|(number, result)| Ok((number, result?)))
        .collect()
}
