//! Every litmus program of the corpus as a source file, through `wmfix check`:
//! the verdict must be the true one. In CI a part of the corpus, with spelling
//! and compiler changing from program to program.
//!
//! `WMFIX_LITMUS=all` takes the whole product, `WMFIX_LITMUS=2/10` the second
//! tenth of it. `WMFIX_LITMUS_CORPUS` names another corpus, `WMFIX_LITMUS_SEED`
//! makes one: `WMFIX_LITMUS_PROGRAMS` random programs (100 if unset), judged by
//! brute force. `WMFIX_LITMUS_LOG` names a file that gets a line a check; what is
//! in it already is not checked again.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::litmus::{Entry, Rng, Spelling, corpus, emit, read_corpus, varied};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

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
    need(&needs);
    let corpus = programs();
    let log = std::env::var_os("WMFIX_LITMUS_LOG").map(PathBuf::from);
    let done = match &log {
        Some(path) => std::fs::read_to_string(path).unwrap_or_default(),
        None => String::new(),
    };
    let done: HashSet<&str> = done.lines().filter_map(|l| l.split('\t').next()).collect();
    let mut tasks = tasks(&corpus, std::env::var("WMFIX_LITMUS").ok().as_deref());
    tasks.retain(|task| !done.contains(&*task.name()));
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let said = check(task, &tally);
                    if let Some(path) = &log {
                        note(path, &format!("{}\t{said}", task.name()));
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no check has panicked");
    wmfix_tests::note!("{} checks, {} not robust", tally.checks, tally.not_robust);
    wmfix_tests::note!("missed: {:?}", tally.missed);
    assert_eq!(tally.checks, tasks.len());
    if log.is_none() {
        assert!(
            tally.not_robust > tasks.len() / 8,
            "the corpus has both kinds"
        );
    }
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(
        tally.missed.len() * 100 <= tally.not_robust,
        "{:#?}",
        tally.missed
    );
}

/// The programs to check.
fn programs() -> Vec<Entry> {
    if let Some(path) = std::env::var_os("WMFIX_LITMUS_CORPUS") {
        let text = std::fs::read_to_string(&path).expect("the corpus that was asked for");
        return read_corpus(&text).expect("a corpus");
    }
    let Ok(seed) = std::env::var("WMFIX_LITMUS_SEED") else {
        return corpus().expect("the corpus can be read");
    };
    let seed: u64 = seed.parse().expect("a number");
    let count =
        std::env::var("WMFIX_LITMUS_PROGRAMS").map_or(100, |n| n.parse().expect("a number"));
    (0..count)
        .map(|n: u64| {
            let mut program = varied(&mut Rng::new(seed << 32 | n));
            program.name = format!("random {seed}.{n}");
            let robust = is_robust(&program, Axioms::RC11);
            Entry {
                robust_with_fence_location: robust,
                robust,
                program,
            }
        })
        .collect()
}

fn note(path: &PathBuf, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| writeln!(file, "{line}"));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// In CI a part; else all, or the `K` of `N` parts that `"K/N"` asks for.
fn tasks<'a>(corpus: &'a [Entry], wanted: Option<&str>) -> Vec<Task<'a>> {
    let combinations: Vec<(Spelling, &str)> = Spelling::ALL
        .into_iter()
        .flat_map(|spelling| COMPILERS.map(|compiler| (spelling, compiler)))
        .collect();
    let mut tasks = Vec::new();
    for (number, entry) in corpus.iter().enumerate() {
        let combinations: &[_] = if wanted.is_some() {
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
    if let Some((part, of)) = wanted.and_then(|wanted| wanted.split_once('/')) {
        let part: usize = part.parse().expect("a number");
        let of: usize = of.parse().expect("a number");
        let mut number = 0;
        tasks.retain(|_| {
            number += 1;
            number % of == part % of
        });
    }
    tasks
}

impl Task<'_> {
    fn name(&self) -> String {
        let program = &self.entry.program.name;
        format!("{program} as {:?} by {}", self.spelling, self.compiler)
    }
}

/// Makes a check and says how it went.
fn check(task: &Task<'_>, tally: &Mutex<Tally>) -> &'static str {
    let program = &task.entry.program;
    let name = task.name();
    let world = World::new();
    let file = format!("litmus.{}", task.spelling.extension());
    world.write(&file, &emit(program, task.spelling));
    let mut command = world.wmfix(task.compiler);
    // Robust or not is the question, not what comes of it.
    let options = ["--format", "json", "--jobs", "1", "--robust"];
    let ran = CommandResult::of(command.args(["check", &file]).args(options));
    let report = ran.json();
    let violations = report["violations"].as_array().expect("a list");
    let mut tally = tally.lock().expect("no check has panicked");
    let wrong_before = tally.wrong.len();
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
    // A wait that nobody ends is a failure of its own.
    let hangs = report["failures"] != serde_json::json!([]);
    if !hangs && ran.code != expected || report["races"] != serde_json::json!([]) {
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
    match (violations.is_empty(), task.entry.robust) {
        _ if tally.wrong.len() > wrong_before => "WRONG",
        (true, false) => "MISSED",
        (true, true) => "silent",
        (false, _) => "found",
    }
}
