//! How long an examination takes: the time that was given ends everything, with
//! what is known by then, and without one small programs are run often.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Store buffering, whose runs then last for as long as is asked for.
const BUFFERING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int x, y;
static int a, b;
static void *left(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  a = atomic_load_explicit(&y, memory_order_relaxed);
  return unused;
}
static void *right(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  if (SECONDS) pause();
  return 0;
}
"#;

fn world(seconds: &str) -> World {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write("sb.c", &BUFFERING.replace("SECONDS", seconds));
    world
}

#[test]
fn a_run_that_never_ends_ends_with_the_time_and_what_it_showed_is_told() {
    let world = world("1");
    for command in ["check", "suggest"] {
        let ran = CommandResult::of(world.wmfix("gcc").args([
            command,
            "sb.c",
            "--timeout",
            "100000",
            "--time",
            "10",
            "--seed",
            "2",
            "--format",
            "json",
        ]));
        assert_eq!(ran.code, Some(1), "{} {}", ran.stdout, ran.stderr);
        let report = ran.json();
        assert_eq!(report["verdict"], "findings", "{command}");
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(0));
        assert!(
            report["violations"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        );
        assert_eq!(report["runs"]["total"], report["runs"]["incomplete"]);
        let notes = report["notes"].to_string();
        assert!(notes.contains("before the first run had ended"), "{notes}");
        assert!(notes.contains("--time"), "{notes}");
    }
}

#[test]
fn a_first_run_without_findings_that_never_ends_is_no_clean_result() {
    let world = World::new();
    need(&[Need::Program("gcc")]);
    let text = BUFFERING.replace("SECONDS", "1");
    world.write("sb.c", &text.replace("relaxed", "seq_cst"));
    let ran = CommandResult::of(world.wmfix("gcc").args([
        "check",
        "sb.c",
        "--timeout",
        "100000",
        "--time",
        "3",
        "--format",
        "json",
    ]));
    assert_eq!(ran.code, Some(3), "{} {}", ran.stdout, ran.stderr);
    let report = ran.json();
    assert_eq!(report["verdict"], "failed");
    let notes = report["notes"].to_string();
    assert!(notes.contains("before the first run had ended"), "{notes}");
}

#[test]
fn the_time_ends_suggest_too_and_what_is_known_is_told() {
    let world = world("0");
    // No number of quiet runs is ever reached.
    let ran = CommandResult::of(world.wmfix("gcc").args([
        "suggest",
        "sb.c",
        "--runs",
        "1000000000",
        "--time",
        "4",
        "--format",
        "json",
    ]));
    assert_eq!(ran.code, Some(1), "{} {}", ran.stdout, ran.stderr);
    let report = ran.json();
    assert_eq!(report["violations"].as_array().map(Vec::len), Some(2));
    let notes = report["notes"].to_string();
    assert!(notes.contains("stopped at the time limit"), "{notes}");
}

#[test]
fn small_programs_are_run_often_and_as_often_again() {
    let world = world("0");
    let runs = |environment: Option<&str>| {
        let mut command = world.wmfix("gcc");
        command.args(["check", "sb.c", "--races", "off", "--format", "json"]);
        command.arg("--robust");
        match environment {
            Some(runs) => command.env("WMFIX_RUNS", runs),
            None => command.env_remove("WMFIX_RUNS"),
        };
        let report = CommandResult::of(&mut command).json();
        report["runs"]["total"].as_u64().expect("a number")
    };
    let usual = runs(None);
    assert!(usual > 1_000, "{usual}");
    let few = runs(Some("5"));
    assert!(few < 100, "{few}");
    let mut command = world.wmfix("gcc");
    command.args(["check", "sb.c"]).env("WMFIX_RUNS", "many");
    let ran = CommandResult::of(&mut command);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("WMFIX_RUNS is `many`"),
        "{}",
        ran.stderr
    );
}
