//! Predicted races, from the command line: a race that neither a thread sanitizer
//! nor any run shows is predicted, made to happen and explained; what cannot be
//! followed says why; published bugs of data structures are found.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use wmfix_tests::examples::example::example;
use wmfix_tests::litmus::{Rng, Spelling, emit, with_plain};
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, cannot_run, need};

/// The report of `wmfix check` on a file.
fn check(world: &World, file: &Path, options: &[&str]) -> Value {
    let mut command = world.wmfix("gcc");
    command.arg("check").arg(file).args(options);
    CommandResult::of(command.args(["--format", "json"])).json()
}

fn races(report: &Value) -> &[Value] {
    report["races"].as_array().expect("races").as_slice()
}

fn hidden_race() -> std::path::PathBuf {
    example("hidden_race").folder.join("importer.c")
}

#[test]
fn the_first_run_predicts_a_race_and_it_is_then_seen() {
    let world = World::new();
    let report = check(&world, &hidden_race(), &["--runs", "1", "--seed", "1"]);
    let [race] = races(&report) else {
        panic!("{report:#}");
    };
    assert_eq!(race["location"], "last");
    assert_eq!(race["seed"], 1);
    assert_eq!(race["prediction"]["outcome"], "seen", "{report:#}");
    assert_eq!(report["verdict"], "findings");
}

#[test]
fn no_run_shows_it() {
    let world = World::new();
    let options = ["--runs", "100", "--races", "on"];
    let report = check(&world, &hidden_race(), &options);
    assert!(races(&report).is_empty(), "{report:#}");
    let off = check(&world, &hidden_race(), &["--runs", "1", "--races", "off"]);
    assert!(races(&off).is_empty());
}

#[test]
fn thread_sanitizers_do_not_report_it_in_twenty_runs() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    let program = world.path().join("importer");
    let built = Command::new("gcc")
        .args(["-g", "-O1", "-fsanitize=thread", "-pthread", "-o"])
        .args([program.as_path(), hidden_race().as_path()])
        .output()
        .expect("gcc runs");
    if !built.status.success() {
        cannot_run("needs gcc's thread sanitizer".to_owned());
    }
    for run in 0..20 {
        let ran = Command::new(&program).output().expect("the program runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        if said.contains("FATAL") {
            cannot_run(format!("gcc's thread sanitizer does not run here: {said}"));
        }
        assert!(ran.status.success(), "run {run}: {said}");
    }
}

#[test]
fn text_sarif_and_explain_say_that_it_was_predicted() {
    let world = World::new();
    let mut command = world.wmfix("gcc");
    let run = CommandResult::of(
        command
            .arg("check")
            .arg(hidden_race())
            .args(["--runs", "1"]),
    );
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let said = "predicted from the run with seed 1, which hides it, and then seen in a run that \
                followed the schedule";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    let explained = CommandResult::well(world.wmfix("gcc").args(["explain", "R1"])).stdout;
    for part in [
        "The end of the schedule that shows it",
        "* writes (not atomic)",
        "* reads (not atomic)",
        "puts the two accesses next to each other",
        "--replay",
    ] {
        assert!(explained.contains(part), "no {part} in {explained}");
    }
    let mut command = world.wmfix("gcc");
    command.arg("check").arg(hidden_race());
    let sarif = CommandResult::of(command.args(["--runs", "1", "--format", "sarif"])).json();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["properties"]["prediction"]["outcome"], "seen");
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.contains("Predicted from the run"), "{text}");
}

#[test]
fn the_kept_schedule_shows_it_again() {
    let world = World::new();
    check(&world, &hidden_race(), &["--runs", "1"]);
    let explained = CommandResult::well(world.wmfix("gcc").args(["explain", "R1"])).stdout;
    let words = explained.split_whitespace();
    let trace = words.skip_while(|word| *word != "--replay").nth(1);
    let trace = trace.expect("the command that replays it").to_owned();
    let report = check(&world, &hidden_race(), &["--replay", &trace]);
    let [race] = races(&report) else {
        panic!("{report:#}");
    };
    assert_eq!(race["prediction"], Value::Null, "a run shows it now");
}

#[test]
fn the_repaired_program_has_no_race() {
    let world = World::new();
    let source = fs::read_to_string(hidden_race()).expect("the example");
    let (note, unlock) = (
        "    if (record == RECORDS)\n      last = record;\n",
        "    pthread_mutex_unlock(&import_lock);\n",
    );
    let broken = format!("{unlock}{note}");
    assert!(source.contains(&broken));
    let repaired = source.replace(&broken, &format!("{note}{unlock}"));
    let patch = example("hidden_race").folder.join("fix.patch");
    let patch = fs::read_to_string(patch).expect("the fix");
    let lines = |sign: char| patch.lines().filter(|l| l.starts_with(sign)).count();
    assert_eq!(
        (lines('-'), lines('+')),
        (2, 2),
        "a line moves, two headers"
    );
    let file = world.write("importer.c", &repaired);
    let report = check(&world, &file, &["--runs", "20"]);
    assert_eq!(report["verdict"], "clean", "{report:#}");
}

/// What one thread tells the other goes through a file, which nobody sees.
const UNSEEN: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value, file;

static void *writer(void *unused) {
  (void)unused;
  value = 1;
  pthread_mutex_lock(&lock);
  if (pwrite(file, "1", 1, 0) != 1)
    return &value;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  file = fileno(tmpfile());
  pthread_create(&thread, 0, writer, 0);
  char told = 0;
  pthread_mutex_lock(&lock);
  long size = pread(file, &told, 1, 0);
  pthread_mutex_unlock(&lock);
  if (size == 1)
    value = 2; // not without the writer
  pthread_join(thread, 0);
  return 0;
}
"#;

#[test]
fn a_prediction_that_does_not_come_true_says_why() {
    let world = World::new();
    let file = world.write("unseen.c", UNSEEN);
    let report = check(&world, &file, &["--runs", "50"]);
    let [race] = races(&report) else {
        panic!("{report:#}");
    };
    assert_eq!(race["prediction"]["outcome"], "elsewhere", "{report:#}");
    let line = UNSEEN.lines().position(|l| l.contains("not without"));
    let line = line.expect("the line") + 1;
    let why = format!("thread 0 did not get to unseen.c:{line}, in main");
    assert_eq!(race["prediction"]["why"], why.as_str());
}

#[test]
fn every_race_that_is_predicted_for_a_random_program_is_then_seen() {
    let world = World::new();
    let (mut predicted, mut seed) = (0, 0);
    while predicted < 6 && seed < 60 {
        seed += 1;
        let program = with_plain(&mut Rng::new(1_000 + seed));
        let name = format!("random{seed}.c");
        let file = world.write(&name, &emit(&program, Spelling::C11));
        let report = check(&world, &file, &["--runs", "1"]);
        for race in races(&report) {
            if !race["prediction"].is_null() {
                predicted += 1;
                let outcome = &race["prediction"]["outcome"];
                assert_eq!(outcome, "seen", "{name}: {race:#}\n{program}");
            }
        }
    }
    assert!(predicted >= 3, "{predicted} predictions in {seed} programs");
}

#[test]
fn published_bugs_of_data_structures_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/structures");
    let mut found = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        let file = entry.expect("the corpus").path();
        let text = fs::read_to_string(&file).expect("a program");
        let expected = text
            .lines()
            .find_map(|line| line.strip_prefix("// expect: "));
        let expected: Vec<&str> = expected.expect("an expectation").split(' ').collect();
        let world = World::new();
        let report = check(&world, &file, &["--runs", "40"]);
        let mentions = |place: &Value, name: &str| {
            let line = place["line"].as_u64().expect("a line") as usize;
            text.lines()
                .nth(line.wrapping_sub(1))
                .is_some_and(|l| l.contains(name))
        };
        let name = file.display();
        match expected[..] {
            ["race", what] => {
                let named = |race: &Value| {
                    let location = race["location"].as_str().unwrap_or_default();
                    location.split(['[', '.']).next() == Some(what)
                        || mentions(&race["first"], what)
                        || mentions(&race["second"], what)
                };
                assert!(races(&report).iter().any(named), "{name}: {report:#}");
            }
            ["stale", what] => {
                let violations = report["violations"].as_array().expect("violations");
                let stale = |one: &&Value| one["location"] == what;
                assert!(
                    violations.iter().any(|one| stale(&one)),
                    "{name}: {report:#}"
                );
            }
            ["nothing"] => assert_eq!(report["verdict"], "clean", "{name}: {report:#}"),
            _ => panic!("{name}: {expected:?}"),
        }
        found += 1;
    }
    assert_eq!(found, 13);
}
