//! The analyzer against brute force, both ways: on the corpus and on random
//! programs, over their SC interleavings, at every access exactly the stale
//! writes that the axioms allow.
//!
//! `WMFIX_MODEL_PROGRAMS` sets the number of random programs (10,000 if unset),
//! `WMFIX_MODEL_SEED` where they start.

use std::sync::atomic::{AtomicUsize, Ordering};

use wmfix_analysis::{Model, ReleaseSequences};
use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::compare::assert_agrees;
use wmfix_tests::litmus::{Rng, corpus, varied};

#[test]
fn corpus_in_rc11() {
    for entry in corpus().unwrap() {
        let tally = assert_agrees(&entry.program, Model::RC11, 20);
        assert_eq!(tally.violations == 0, entry.robust, "{}", entry.program);
    }
}

#[test]
fn corpus_in_rc20() {
    for entry in corpus().unwrap() {
        let tally = assert_agrees(&entry.program, Model::RC20, 10);
        let robust = is_robust(&entry.program, Axioms::RC20);
        assert_eq!(tally.violations == 0, robust, "{}", entry.program);
    }
}

#[test]
fn random_programs_in_rc11() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 10_000);
    let totals = judge_many(count, Model::RC11);
    totals.assert_telling(count);
    assert!(totals.sc_accesses > count / 3 && totals.sc_fences > count / 4);
    assert!(totals.weak_cas > count / 50 && totals.waits > count / 10);
}

#[test]
fn random_programs_in_rc20() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 10_000) / 5;
    judge_many(count, Model::RC20).assert_telling(count);
}

/// The analyzer leaves out what a stale store parts (deviation 5 of its list): none of
/// these programs tells.
#[test]
fn random_programs_by_cpp17s_release_sequences() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 10_000) / 4;
    let model = Model::RC11.with(ReleaseSequences::Cxx17);
    judge_many(count, model).assert_telling(count);
}

#[derive(Default)]
struct Totals {
    not_robust: usize,
    sc_accesses: usize,
    sc_fences: usize,
    weak_cas: usize,
    waits: usize,
}

impl Totals {
    /// A sample with too few of one verdict would show little.
    fn assert_telling(&self, count: usize) {
        assert!(self.not_robust > count / 10, "{}", self.not_robust);
        assert!(self.not_robust < count * 9 / 10, "{}", self.not_robust);
    }
}

/// Judges random programs on all cores.
fn judge_many(count: usize, model: Model) -> Totals {
    let seed = from_environment("WMFIX_MODEL_SEED", 1) as u64;
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut totals = Totals::default();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= count {
                return totals;
            }
            let program = varied(&mut Rng::new(seed << 32 | n as u64));
            let tally = assert_agrees(&program, model, 3);
            let text = program.to_string();
            totals.not_robust += usize::from(tally.violations > 0);
            totals.sc_accesses += usize::from(program.has_sc_access());
            totals.sc_fences += usize::from(program.has_sc_fence());
            totals.weak_cas += usize::from(text.contains("wcas"));
            totals.waits += usize::from(text.contains("wait") || text.contains("bcas"));
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut sum = Totals::default();
        for worker in workers {
            let part = worker.join().expect("the analyzer and the axioms agree");
            sum.not_robust += part.not_robust;
            sum.sc_accesses += part.sc_accesses;
            sum.sc_fences += part.sc_fences;
            sum.weak_cas += part.weak_cas;
            sum.waits += part.waits;
        }
        sum
    })
}

fn from_environment(name: &str, otherwise: usize) -> usize {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    }
}
