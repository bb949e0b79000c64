//! The exploration against brute force: on the corpus and on random programs, one run
//! for each complete SC graph and none twice, and from these runs alone the verdict
//! about robustness and races that brute force gives; in parts, the same graphs, each in
//! one part.
//!
//! `WMFIX_MODEL_PROGRAMS` sets the number of random programs (5,000 if unset),
//! `WMFIX_MODEL_SEED` where they start.

use rustc_hash::FxHashSet;
use wmfix_analysis::{Analyzer, AnalyzerConfig, Event};
use wmfix_tests::brute::{Axioms, has_race, is_robust};
use wmfix_tests::exploring::{
    Split, Waking, complete_graphs, explore_all, explore_parts, without_spurious_failures,
};
use wmfix_tests::litmus::{Program, Rng, corpus, varied, with_plain};

/// Programs with more graphs than this say no more than others.
const MOST_CLASSES: u64 = 20_000;

#[derive(Default)]
struct Totals {
    classes: u64,
    redundant: u64,
    not_robust: u64,
    /// Programs of which more than one part had classes.
    shared: u64,
}

#[test]
fn every_graph_of_the_corpus_once() {
    let mut totals = Totals::default();
    for entry in corpus().unwrap() {
        let robust = judge(&entry.program, &mut totals);
        assert_eq!(robust, entry.robust, "{}", entry.program);
    }
    totals.assert_few_redundant();
}

#[test]
fn every_graph_of_random_programs_once() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 5_000);
    let seed = from_environment("WMFIX_MODEL_SEED", 1);
    let mut totals = Totals::default();
    for n in 0..count {
        let program = without_spurious_failures(varied(&mut Rng::new(seed << 32 | n)));
        let robust = judge(&program, &mut totals);
        assert_eq!(robust, is_robust(&program, Axioms::RC11), "{program}");
        totals.not_robust += u64::from(!robust);
    }
    totals.assert_few_redundant();
    assert!(totals.not_robust > count / 10 && totals.not_robust < count * 9 / 10);
}

#[test]
fn parts_have_every_graph_of_the_corpus_once() {
    let mut totals = Totals::default();
    for entry in corpus().unwrap() {
        judge_parts(&entry.program, &mut totals);
    }
    totals.assert_shared();
}

#[test]
fn parts_have_every_graph_of_random_programs_once() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 5_000) / 2;
    let seed = from_environment("WMFIX_MODEL_SEED", 1);
    let mut totals = Totals::default();
    for n in 0..count {
        let program = without_spurious_failures(varied(&mut Rng::new(seed << 32 | n)));
        judge_parts(&program, &mut totals);
    }
    totals.assert_shared();
}

#[test]
fn races_of_random_programs() {
    let count = from_environment("WMFIX_MODEL_PROGRAMS", 5_000) / 10;
    let mut racy = 0;
    for n in 0..count {
        let program = without_spurious_failures(with_plain(&mut Rng::new(7 << 32 | n)));
        let Some(explored) = explore_all(&program, MOST_CLASSES) else {
            continue;
        };
        let found = explored
            .runs
            .iter()
            .any(|run| !analyse(run).races().is_empty());
        assert_eq!(found, has_race(&program, Axioms::RC11), "{program}");
        racy += u64::from(found);
    }
    assert!(racy > count / 10 && racy < count * 9 / 10, "{racy}");
}

impl Totals {
    fn assert_few_redundant(&self) {
        let Self {
            classes, redundant, ..
        } = self;
        println!("{classes} classes, {redundant} redundant runs");
        assert!(redundant * 5 <= *classes, "{redundant} of {classes}");
    }

    fn assert_shared(&self) {
        let Self {
            classes,
            redundant,
            shared,
            ..
        } = self;
        println!("{classes} classes, {redundant} redundant runs, {shared} shared");
        assert!(*shared > 100, "{shared}");
    }
}

/// Whether a program is robust by what its explored runs show. Panics unless they are
/// one for each graph.
fn judge(program: &Program, totals: &mut Totals) -> bool {
    let explored = explore_all(program, MOST_CLASSES).expect("few classes");
    let truth = complete_graphs(program);
    let graphs: FxHashSet<Vec<u8>> = explored.graphs.iter().cloned().collect();
    assert_eq!(graphs.len(), explored.graphs.len(), "one twice: {program}");
    assert_eq!(graphs.len(), truth.len(), "{program}");
    assert!(graphs == truth, "{program}");
    totals.classes += graphs.len() as u64;
    totals.redundant += explored.redundant;
    explored
        .runs
        .iter()
        .all(|run| analyse(run).violations().is_empty())
}

/// Panics unless the runs of all parts are one for each graph, however many parts there
/// are and wherever the tree is cut.
fn judge_parts(program: &Program, totals: &mut Totals) {
    let truth = complete_graphs(program);
    let splits = [
        (2, 3, Waking::Exact),
        (2, 16, Waking::Early),
        (3, 24, Waking::Exact),
        (5, 40, Waking::Exact),
    ];
    for (total, leaves, waking) in splits {
        let split = Split {
            total,
            leaves,
            waking,
        };
        let parts = explore_parts(program, split, MOST_CLASSES).expect("few classes");
        let busy = parts.iter().filter(|part| !part.graphs.is_empty());
        totals.shared += u64::from(busy.count() > 1);
        let all: Vec<&Vec<u8>> = parts.iter().flat_map(|part| &part.graphs).collect();
        let graphs: FxHashSet<Vec<u8>> = all.iter().map(|&graph| graph.clone()).collect();
        assert_eq!(graphs.len(), all.len(), "one twice: {split:?}, {program}");
        assert!(graphs == truth, "{split:?}, {program}");
        totals.classes += graphs.len() as u64;
        totals.redundant += parts.iter().map(|part| part.redundant).sum::<u64>();
    }
}

fn analyse(run: &[Event]) -> Analyzer {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..AnalyzerConfig::default()
    });
    for event in run {
        analyzer.feed(event).expect("a run of a program");
    }
    analyzer
}

fn from_environment(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().expect("a number"))
}
