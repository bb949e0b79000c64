//! Threads that wait for one another, in every way there is: no schedule hangs,
//! every call gives what it must, and a deadlock is told from a long wait.

use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{End, Ending, Record, RecordedOperation as Operation, WaitsFor};

const STRATEGIES: [&str; 3] = ["pct", "random", "os"];

fn need_compilers() {
    need(&[Need::Program("gcc"), Need::Program("clang")]);
}

/// Builds with both compilers and runs with some seeds; all must say ok.
fn always_ok(source: &str, flags: &[&str], seeds: u64) {
    for compiler in ["gcc", "clang"] {
        let program = Program::build(source, compiler, flags);
        for strategy in STRATEGIES {
            for seed in 0..seeds {
                let run = program.run(strategy, seed);
                let what = format!("{source} {compiler} {strategy} {seed}");
                assert_eq!(run.stdout, "ok\n", "{what}: {}", run.stderr);
                let trace = run.well(&what);
                assert_eq!(
                    trace.ending,
                    Ending::Complete(End::Exit { code: 0 }),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn locks_of_posix() {
    need_compilers();
    always_ok("locks.c", &[], 8);
}

#[test]
fn threads_of_c11() {
    need_compilers();
    always_ok("c11.c", &[], 8);
}

#[test]
fn the_standard_library_of_cpp() {
    need_compilers();
    always_ok("standard.cpp", &["-std=c++20"], 8);
}

#[test]
fn loops_that_spin() {
    need_compilers();
    always_ok("spinning.c", &[], 15);
}

#[test]
fn calls_that_nobody_controls() {
    need_compilers();
    always_ok("pipes.c", &[], 2);
}

#[test]
fn a_deadlock_is_reported_and_only_where_there_is_one() {
    need_compilers();
    let program = Program::build("deadlock.c", "gcc", &[]);
    let (mut dead, mut fine) = (0, 0);
    for seed in 0..40 {
        let run = program.run("random", seed);
        if run.code == Some(0) {
            fine += 1;
            continue;
        }
        dead += 1;
        assert_eq!(run.code, Some(122), "{}", run.stderr);
        assert!(run.stderr.contains("deadlock"), "{}", run.stderr);
        let trace = run.only_trace();
        assert_eq!(trace.ending, Ending::Complete(End::Deadlock));
        let stuck: Vec<_> = trace
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Stuck(stuck) => Some(stuck),
                _ => None,
            })
            .collect();
        // main waits for a thread, the two threads for locks.
        assert_eq!(stuck.len(), 3);
        assert!(matches!(stuck[0].waits_for, WaitsFor::Thread(_)));
        assert!(matches!(stuck[1].waits_for, WaitsFor::Lock(_)));
        assert!(matches!(stuck[2].waits_for, WaitsFor::Lock(_)));
        assert_ne!(stuck[1].waits_for, stuck[2].waits_for);
        assert!(stuck.iter().all(|stuck| stuck.context.0 != 0));
    }
    assert!(dead >= 3 && fine >= 3, "{dead} dead, {fine} fine");
}

#[test]
fn a_livelock_is_reported_soon_and_with_a_short_trace() {
    need_compilers();
    let program = Program::build("livelock.c", "gcc", &[]);
    for strategy in ["pct", "random"] {
        // Nobody looks at a clock: this long nobody waits.
        let settings = [("WMFIX_STRATEGY", strategy), ("WMFIX_LIVELOCK", "3600000")];
        let run = program.run_with(&settings, 1, &[]);
        assert_eq!(run.code, Some(123), "{}", run.stderr);
        let trace = run.only_trace();
        assert_eq!(trace.ending, Ending::Complete(End::Livelock));
        let spinning = trace.records.iter().filter(|record| {
                matches!(record, Record::Stuck(stuck) if matches!(stuck.waits_for, WaitsFor::Value(_)))
            });
        assert_eq!(spinning.count(), 2);
        let loads = trace.count(|operation| matches!(operation, Operation::Load { .. }));
        assert!(loads < 100, "{loads} loads, all but the first alike");
    }
}

#[test]
fn the_last_thread_that_spins_is_a_livelock_with_its_place() {
    need_compilers();
    let program = Program::build("lone_spinner.c", "gcc", &[]);
    let run = program.run_with(&[("WMFIX_LIVELOCK", "3600000")], 1, &[]);
    assert_eq!(run.code, Some(123), "{}", run.stderr);
    let trace = run.only_trace();
    assert_eq!(trace.ending, Ending::Complete(End::Livelock));
    let stuck = trace.records.iter().find_map(|record| match record {
        Record::Stuck(stuck) => Some(stuck),
        _ => None,
    });
    assert_ne!(stuck.expect("a stuck thread").context.0, 0);
    assert!(trace.records.len() < 50, "{}", trace.records.len());
}

#[test]
fn a_program_does_not_see_that_it_is_instrumented() {
    need_compilers();
    always_ok("hidden.cpp", &[], 2);
}

#[test]
fn a_loop_that_waits_for_the_clock_is_no_livelock() {
    need_compilers();
    let program = Program::build("clocks.c", "gcc", &[]);
    let run = program.run("pct", 1);
    assert_eq!(run.stdout, "ok\n", "{}", run.stderr);
    // The clock does come into it, and so does the setting.
    let run = program.run_with(&[("WMFIX_LIVELOCK", "50")], 1, &[]);
    assert_eq!(run.code, Some(123), "{}", run.stderr);
}

#[test]
fn rounds_of_a_loop_that_gives_up_are_recorded_while_they_tell_something() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("giving_up.c", compiler, &[]);
        for seed in 0..10 {
            let run = program.run("pct", seed);
            assert_eq!(run.stdout, "100000\n", "{compiler}: {}", run.stderr);
            let trace = run.well(compiler);
            let of = |wanted: u128| {
                trace.count(
                    |operation| matches!(operation, Operation::Load { value, .. } if *value == wanted),
                )
            };
            // Ten writes of the same value: each may have been read.
            assert!((1..60).contains(&of(0)), "{}", of(0));
            // The same schedule comes about again although most reads are left out.
            let settings = [("WMFIX_REPLAY", trace.path.to_str().expect("a path"))];
            let again = program.run_with(&settings, 0, &[]).well("again");
            assert_eq!(again.without_addresses(), trace.without_addresses());
        }
    }
}
