//! Litmus programs that are not robust, as source files, through `wmfix suggest`:
//! what is suggested holds, and costs what the search finds cheapest when it is
//! given every run of the program (which `repair_corpus` holds against brute
//! force). In CI a part of the corpus; with WMFIX_LITMUS=all the whole of it. How
//! long it takes the bench `suggest` measures.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wmfix_repair::{Options, Profile, repair};
use wmfix_tests::litmus::{Entry, Spelling, corpus, emit};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::repairing::problem;
use wmfix_tests::tools::{Need, need};

/// The number of programs in CI.
const SAMPLE: usize = 36;

#[derive(Debug, Default)]
struct Tally {
    repaired: usize,
    cheaper: Vec<String>,
    wrong: Vec<String>,
}

#[test]
fn what_is_suggested_holds_and_is_as_cheap_as_can_be() {
    let needs = ["gcc", "g++"].map(Need::Program);
    need(&needs);
    let corpus = corpus().expect("the corpus can be read");
    let weak: Vec<&Entry> = corpus.iter().filter(|entry| !entry.robust).collect();
    let all = std::env::var("WMFIX_LITMUS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { weak.len() / SAMPLE };
    let tasks: Vec<(usize, &Entry)> = weak.into_iter().step_by(step).enumerate().collect();
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(number, entry)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    judge(number, entry, &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no program has panicked");
    wmfix_tests::note!("{} repaired", tally.repaired);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert_eq!(tally.repaired, tasks.len());
    // Some runs are so rare that a hundred others do not show them.
    assert!(
        tally.cheaper.len() * 20 <= tasks.len(),
        "{:#?}",
        tally.cheaper
    );
}

fn judge(number: usize, entry: &Entry, tally: &Mutex<Tally>) {
    let program = &entry.program;
    let spelling = Spelling::ALL[number % Spelling::ALL.len()];
    let world = World::new();
    let file = format!("litmus.{}", spelling.extension());
    world.write(&file, &emit(program, spelling));
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    let ran = CommandResult::of(command.args([
        "suggest", &file, "--format", "json", "--jobs", "1", "--cost", "fewest", "--robust",
    ]));
    let report = ran.json();
    // What runs how often is not the same in all runs and in some.
    let options = Options {
        profile: Profile::Fewest,
        ..Options::default()
    };
    let outcome = repair(&problem(program), &options, |_| {});
    let cheapest = outcome.expect("the runs are runs").repair;
    let cheapest = cheapest.expect("a search that ends has a repair").cost;
    let (repair, notes) = (&report["repair"], &report["notes"]);
    let name = format!("{program}as {spelling:?}: {repair} instead of {cheapest}, {notes}");
    let mut tally = tally.lock().expect("no program has panicked");
    let cost = repair["cost"].as_u64();
    let holds = repair["verification"]["outcome"] == "held" && repair["optimal"] == true;
    match cost {
        Some(cost) if holds && cost <= cheapest && ran.code == Some(1) => {
            tally.repaired += 1;
            if cost < cheapest {
                tally.cheaper.push(name);
            }
        }
        _ => tally.wrong.push(name),
    }
}
