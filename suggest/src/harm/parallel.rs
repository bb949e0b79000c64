//! Runs that do not depend on each other, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::run::interrupted;

/// Does the work of every number below `count`, `jobs` at a time. What comes of it
/// does not depend on how many; after an interrupt or the deadline the rest is left
/// out.
pub(super) fn each<T: Send>(
    jobs: usize,
    count: usize,
    deadline: Option<Instant>,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<anyhow::Result<T>>>> =
        Mutex::new((0..count).map(|_| None).collect());
    let take = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if number >= count || late || interrupted() {
                return;
            }
            let result = work(number);
            results.lock().expect("no panic while locked")[number] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            scope.spawn(take);
        }
    });
    let results = results.into_inner().expect("no panic while locked");
    results.into_iter().flatten().collect()
}
