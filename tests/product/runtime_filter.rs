//! What traces leave out makes no difference to what is found, and it is most of
//! what a program does.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, have_all};
use wmfix_trace::RecordedOperation;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What `wmfix check` finds in a file, with the filter or without.
fn findings(source: &Path, compiler: &str, filter: &str) -> Value {
    let world = World::new();
    let mut command = world.wmfix(compiler);
    command
        .args(["check", "--seed", "1", "--runs", "40", "--jobs", "1"])
        .args(["--time", "600", "--format", "json"])
        .arg(source)
        .env("WMFIX_FILTER", filter);
    let mut report = CommandResult::of(&mut command).json();
    let runs = report["runs"]["total"].take();
    let found =
        ["verdict", "sites", "violations", "races", "notes"].map(|part| report[part].take());
    serde_json::json!({ "runs": runs, "found": found })
}

#[test]
fn findings_are_the_same_with_and_without_the_filter() {
    if !have_all(
        "findings_with_and_without_the_filter",
        &[Need::Program("gcc"), Need::Program("clang")],
    ) {
        return;
    }
    let corpus = root().join("tests/corpus");
    let sources = [
        corpus.join("runtime/filtered.c"),
        corpus.join("suggest/sb.c"),
        corpus.join("suggest/treiber.cpp"),
        corpus.join("suggest/seqlock.c"),
        corpus.join("runtime/four_threads.c"),
    ];
    for compiler in ["gcc", "clang"] {
        for source in &sources {
            let filtered = findings(source, compiler, "on");
            let whole = findings(source, compiler, "off");
            assert_eq!(filtered, whole, "{compiler}: {}", source.display());
        }
    }
}

#[test]
fn one_thread_leaves_little_behind() {
    if !have_all("one_thread", &[Need::Program("gcc")]) {
        return;
    }
    let program = Program::build("filtered.c", "gcc", &[]);
    let events = |strategy: &str, filter: &str, kind: fn(&RecordedOperation) -> bool| {
        let settings = [
            ("WMFIX_STRATEGY", strategy),
            ("WMFIX_RACES", "on"),
            ("WMFIX_FILTER", filter),
        ];
        let trace = program.run_with(&settings, 1, &[]).well(filter);
        trace.count(kind)
    };
    let adds: fn(&RecordedOperation) -> bool =
        |operation| matches!(operation, RecordedOperation::Rmw { .. });
    for strategy in ["pct", "os"] {
        assert_eq!(events(strategy, "off", adds), 1000);
        let kept = events(strategy, "on", adds);
        assert_eq!(kept, 2, "{strategy}: the first, for its line, and the last");
    }
    let plain: fn(&RecordedOperation) -> bool = |operation| {
        matches!(
            operation,
            RecordedOperation::Read { .. } | RecordedOperation::Write { .. }
        )
    };
    for strategy in ["pct", "os"] {
        assert!(events(strategy, "off", plain) > 300);
        let kept = events(strategy, "on", plain);
        assert!(kept < 300, "{strategy}: {kept}");
    }
}

#[test]
fn a_run_without_memory_for_the_shadow_records_everything_and_says_so() {
    if !have_all("no_memory_for_the_shadow", &[Need::Program("gcc")]) {
        return;
    }
    let program = Program::build("filtered.c", "gcc", &[]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -v 100000 && exec \"$PROGRAM\""]);
    let run = program.run_command(limited, &[("WMFIX_RACES", "on")], 1);
    assert!(run.stderr.contains("no memory to tell"), "{}", run.stderr);
    let whole = program
        .run_with(&[("WMFIX_RACES", "on"), ("WMFIX_FILTER", "off")], 1, &[])
        .well("unfiltered");
    let trace = run.well("limited");
    let plain = |operation: &RecordedOperation| {
        matches!(
            operation,
            RecordedOperation::Read { .. } | RecordedOperation::Write { .. }
        )
    };
    assert!(trace.count(plain) > 200);
    assert!(trace.count(plain) <= whole.count(plain));
}
