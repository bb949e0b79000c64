//! Schedules: the same seed gives the same run, other seeds give other ones, a
//! recorded one can be had again, and small programs are covered well.

use std::collections::BTreeSet;

use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{Record, RecordedOperation as Operation};

#[test]
fn a_seed_gives_the_same_trace_fifty_times() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("four_threads.c", "gcc", &[]);
    for strategy in ["pct", "pos", "random", "seek", "mixed"] {
        let first = program.run(strategy, 7);
        let output = first.stdout.clone();
        let first = first.well(strategy).without_addresses();
        assert!(first.len() > 200);
        for _ in 1..50 {
            let again = program.run(strategy, 7);
            assert_eq!(again.stdout, output);
            let again = again.well(strategy).without_addresses();
            let same = first.iter().zip(&again).take_while(|(a, b)| a == b).count();
            assert_eq!(
                (first.get(same), first.len()),
                (again.get(same), again.len()),
                "{strategy}: record {same} differs"
            );
        }
    }
}

#[test]
fn where_memory_lies_changes_no_record() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("far_pages.c", "gcc", &[]);
    let first = program.run("pct", 1).well("first").without_addresses();
    for _ in 0..12 {
        let again = program.run("pct", 1).well("again");
        assert_eq!(first, again.without_addresses());
    }
}

#[test]
fn without_address_randomisation_the_bytes_are_the_same() {
    let needs = [Need::Program("gcc"), Need::Program("setarch")];
    need(&needs);
    // No pointer of malloc's is in this one's trace: which arena a thread gets
    // is up to the library and the clock.
    let program = Program::build("spinning.c", "gcc", &[]);
    let run = || {
        let mut command = std::process::Command::new("setarch");
        command.args(["-R", "sh", "-c", "exec \"$PROGRAM\""]);
        let trace = program.run_command(command, &[], 3).well("setarch");
        let mut bytes = std::fs::read(&trace.path).expect("the trace");
        // The process, its parent and the time.
        bytes[16..32].fill(0);
        bytes
    };
    let first = run();
    for _ in 0..5 {
        assert!(first == run(), "the bytes differ");
    }
}

#[test]
fn other_seeds_give_other_schedules() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("four_threads.c", "gcc", &[]);
    for strategy in ["pct", "pos", "random", "seek", "mixed"] {
        let schedules: BTreeSet<Vec<String>> = (0..30)
            .map(|seed| program.run(strategy, seed).well(strategy))
            .map(|trace| trace.without_addresses())
            .collect();
        assert!(schedules.len() >= 28, "{strategy}: {}", schedules.len());
    }
}

/// Which thread did what, in order.
fn deeds(trace: &wmfix_tests::runs::Trace) -> Vec<(u32, String)> {
    trace
        .events()
        .filter(|event| {
            !matches!(
                event.operation,
                Operation::Free { .. } | Operation::Reclaim { .. }
            )
        })
        .map(|event| {
            let words = format!("{:?}", event.operation);
            let kind = words.split([' ', '{']).next().unwrap_or("").to_owned();
            (event.thread.0, kind)
        })
        .collect()
}

#[test]
fn a_recorded_schedule_is_followed_also_after_unrelated_edits() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("four_threads.c", "gcc", &[]);
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/corpus/runtime/four_threads.c"
    );
    let text = std::fs::read_to_string(source).expect("the source");
    let edited = program.folder().join("edited.c");
    let unrelated =
        "static int unrelated(int x) { return x * 2 + 1; }\nint (*use)(int) = unrelated;\n";
    let changed = text.replace(
        "int main(void) {",
        &format!("{unrelated}int main(void) {{\n  plain();"),
    );
    let changed = changed.replace("static void *work", "static int data[100];\nstatic void plain(void) { for (int i = 0; i < 100; i++) data[i] = i; }\nstatic void *work");
    std::fs::write(&edited, changed).expect("an edited source");
    let edited = Program::build_file(&edited, "gcc", &["-O2"]);
    for seed in 0..10 {
        let recorded = program.run("random", seed).well("recorded");
        let path = recorded.path.to_str().expect("a path");
        let replay = [("WMFIX_REPLAY", path)];
        let again = program.run_with(&replay, 99, &[]).well("replayed");
        assert_eq!(deeds(&recorded), deeds(&again), "seed {seed}");
        let after = edited.run_with(&replay, 99, &[]).well("edited");
        assert_eq!(deeds(&recorded), deeds(&after), "seed {seed}, edited");
    }
}

#[test]
fn a_hundred_runs_see_nearly_every_order_of_a_small_program() {
    need(&[Need::Program("gcc")]);
    // Two threads of three operations have 20 orders.
    let program = Program::build("three_and_three.c", "gcc", &[]);
    let orders: BTreeSet<Vec<u32>> = (0..100)
        .map(|seed| program.run("pct", seed).well("pct"))
        .map(|trace| {
            let atomics = |operation: &Operation| {
                matches!(operation, Operation::Load { .. } | Operation::Store { .. })
            };
            trace
                .events()
                .filter(|event| atomics(&event.operation))
                .map(|event| event.thread.0)
                .collect()
        })
        .collect();
    assert!(orders.iter().all(|order| order.len() == 6));
    assert!(orders.len() >= 17, "{} of 20", orders.len());
    for alone in [vec![1, 1, 1, 2, 2, 2], vec![2, 2, 2, 1, 1, 1]] {
        assert!(orders.contains(&alone), "{alone:?}");
    }
}

#[test]
fn a_kept_turn_leaves_no_record() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("long.c", "gcc", &[]);
    let trace = program
        .run_with(&[("WMFIX_DEPTH", "0")], 1, &["20000"])
        .well("long");
    let turns = trace
        .records
        .iter()
        .filter(|record| matches!(record, Record::Turn(_)))
        .count();
    // Each thread runs for as long as it may.
    assert!(turns < 20, "{turns}");
    assert_eq!(
        trace.count(|operation| matches!(operation, Operation::Rmw { .. })),
        20_000
    );
}

#[test]
fn a_thread_that_main_does_not_wait_for_runs_in_some_schedules() {
    need(&[Need::Program("gcc")]);
    let program = Program::build("left_alone.c", "gcc", &[]);
    let ran = (0..20).filter(|&seed| {
        let trace = program.run("mixed", seed).well("left alone");
        trace.count(|operation| matches!(operation, Operation::Store { .. })) > 0
    });
    let ran = ran.count();
    assert!((3..18).contains(&ran), "in {ran} of 20 schedules");
}
