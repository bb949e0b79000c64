//! Every litmus program of the corpus as a source file, through `wmfix check`:
//! the verdict must be the true one. In CI a part of the corpus, with spelling
//! and compiler changing from program to program; with WMFIX_LITMUS=all the
//! whole product.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wmfix_tests::litmus::{Entry, Spelling, corpus, emit};
use wmfix_tests::product::{Ran, World};
use wmfix_tests::tools::{Need, have_all};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// In CI, one program in this many.
const ONE_IN: usize = 3;

/// One check: a program, how it is spelled, and who compiles it.
struct Task<'a> {
    entry: &'a Entry,
    spelling: Spelling,
    compiler: &'static str,
}

/// What the checks came to.
#[derive(Debug, Default)]
struct Tally {
    checks: usize,
    not_robust: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

#[test]
fn verdicts_are_true_in_every_spelling() {
    let needs = ["gcc", "g++", "clang", "clang++"].map(Need::Program);
    if !have_all("verdicts_are_true_in_every_spelling", &needs) {
        return;
    }
    let corpus = corpus().expect("the corpus can be read");
    let tasks = tasks(
        &corpus,
        std::env::var("WMFIX_LITMUS").is_ok_and(|value| value == "all"),
    );
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(task, &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no check has panicked");
    println!("{} checks, {} not robust", tally.checks, tally.not_robust);
    println!("missed: {:?}", tally.missed);
    assert_eq!(tally.checks, tasks.len());
    assert!(
        tally.not_robust > tasks.len() / 8,
        "the corpus has both kinds"
    );
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(
        tally.missed.len() * 100 <= tally.not_robust,
        "{:#?}",
        tally.missed
    );
}

fn tasks(corpus: &[Entry], all: bool) -> Vec<Task<'_>> {
    let combinations: Vec<(Spelling, &str)> = Spelling::ALL
        .into_iter()
        .flat_map(|spelling| COMPILERS.map(|compiler| (spelling, compiler)))
        .collect();
    let mut tasks = Vec::new();
    for (number, entry) in corpus.iter().enumerate() {
        let combinations: &[_] = if all {
            &combinations
        } else if number % ONE_IN == 0 {
            let at = number / ONE_IN % combinations.len();
            &combinations[at..=at]
        } else {
            &[]
        };
        tasks.extend(combinations.iter().map(|&(spelling, compiler)| Task {
            entry,
            spelling,
            compiler,
        }));
    }
    tasks
}

fn check(task: &Task<'_>, tally: &Mutex<Tally>) {
    let program = &task.entry.program;
    let name = format!(
        "{} as {:?} by {}",
        program.name, task.spelling, task.compiler
    );
    let world = World::new();
    let file = format!("litmus.{}", task.spelling.extension());
    world.write(&file, &emit(program, task.spelling));
    let mut command = world.wmfix(task.compiler);
    let ran = Ran::of(command.args(["check", &file, "--format", "json", "--jobs", "1"]));
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let mut tally = tally.lock().expect("no check has panicked");
    tally.checks += 1;
    tally.not_robust += usize::from(!task.entry.robust);
    if violations.is_empty() && !task.entry.robust {
        tally.missed.push(name.clone());
    }
    if !violations.is_empty() && task.entry.robust {
        tally
            .wrong
            .push(format!("{name}: reported, but it is robust"));
    }
    let expected = if violations.is_empty() {
        Some(0)
    } else {
        Some(1)
    };
    if ran.code != expected || report["races"] != serde_json::json!([]) {
        tally.wrong.push(format!(
            "{name}: code {:?}, races {}",
            ran.code, report["races"]
        ));
    }
    for violation in violations {
        let placed = violation["access"]["line"]
            .as_u64()
            .is_some_and(|line| line > 0);
        if !placed || violation["witness_checked"] != true {
            tally.wrong.push(format!("{name}: {violation}"));
        }
    }
}
