//! Whatever happens to the program: no hang, its own result, and a trace that
//! can be read up to where it happened.

use std::process::Command;

use wmfix_tests::runs::{Program, Trace};
use wmfix_tests::tools::{Need, cannot_run, need};
use wmfix_trace::{End, Ending, Record, RecordedOperation as Operation};

const STRATEGIES: [&str; 3] = ["pct", "random", "os"];

fn need_gcc() {
    need(&[Need::Program("gcc")]);
}

/// What the thread that ends the program did before it did.
fn has_its_last_store(trace: &Trace) -> bool {
    trace
        .events()
        .any(|event| matches!(event.operation, Operation::Store { value: 7, .. }))
}

#[test]
fn crashes_and_exits_keep_their_result_and_the_trace() {
    need_gcc();
    let program = Program::build("crash.c", "gcc", &[]);
    // How, exit code, signal, and the signal or code that the trace tells.
    let cases = [
        ("segv", None, Some(11), Some(11)),
        ("abort", None, Some(6), Some(6)),
        ("fpe", None, Some(8), Some(8)),
        ("exit", Some(3), None, Some(3)),
        ("_exit", Some(4), None, Some(4)),
        ("quick", Some(5), None, Some(5)),
        ("kill", None, Some(9), None),
        ("terminate", None, Some(15), None),
    ];
    for (how, code, signal, told) in cases {
        for strategy in STRATEGIES {
            for seed in 0..2 {
                let run = program.run_with(&[("WMFIX_STRATEGY", strategy)], seed, &[how]);
                assert_eq!((run.code, run.signal), (code, signal), "{how} {strategy}");
                let trace = run.only_trace();
                assert!(has_its_last_store(&trace), "{how} {strategy}");
                match (trace.ending, told) {
                    (Ending::Complete(End::Exit { code }), Some(told)) => assert_eq!(code, told),
                    (
                        Ending::Complete(End::Signal {
                            number,
                            thread,
                            pc,
                            context,
                        }),
                        Some(told),
                    ) => {
                        assert_eq!((number, thread.0), (told, 2), "{how} {strategy}");
                        assert_ne!((pc, context.0), (0, 0));
                    }
                    (Ending::Open, None) => {}
                    (ending, _) => panic!("{how} {strategy}: {ending}"),
                }
            }
        }
    }
}

#[test]
fn forked_processes_write_their_own_traces() {
    need_gcc();
    let program = Program::build("forks.c", "gcc", &[]);
    for strategy in STRATEGIES {
        let run = program.run(strategy, 1);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "ok\n"),
            "{}",
            run.stderr
        );
        // The process before and after it becomes itself again, and both have
        // four children, one of which becomes something uninstrumented.
        assert_eq!(run.traces.len(), 10, "{strategy}");
        let forked = run.traces.iter().filter(|trace| trace.header.forked);
        assert_eq!(forked.count(), 8);
        for trace in &run.traces {
            assert!(
                matches!(
                    trace.ending,
                    Ending::Complete(End::Exit { .. }) | Ending::Open
                ),
                "{strategy}: {}",
                trace.ending
            );
        }
        let with_threads = |trace: &&Trace| {
            trace.header.forked
                && trace.count(|operation| matches!(operation, Operation::Create { .. })) == 2
        };
        assert_eq!(run.traces.iter().filter(with_threads).count(), 2);
        let becomes_another = run
            .traces
            .iter()
            .filter(|trace| trace.records.last() == Some(&Record::Exec))
            .count();
        assert!(becomes_another >= 1);
    }
}

#[test]
fn signal_handlers_may_use_atomics() {
    need_gcc();
    let program = Program::build("signals.c", "gcc", &[]);
    for strategy in STRATEGIES {
        for seed in 0..5 {
            let run = program.run(strategy, seed);
            assert_eq!(run.stdout, "ok\n", "{strategy} {seed}: {}", run.stderr);
        }
    }
}

#[test]
fn two_hundred_threads_with_destructors() {
    need_gcc();
    let program = Program::build("many.c", "gcc", &[]);
    // Again under `os`: the threads meet in the loader, which `pthread_exit` calls.
    for strategy in STRATEGIES.into_iter().chain(["os"; 10]) {
        let trace = program.run(strategy, 1).well(strategy);
        let threads = 2200;
        assert_eq!(
            trace.count(|operation| matches!(operation, Operation::Create { .. })),
            threads
        );
        assert_eq!(
            trace.count(|operation| matches!(operation, Operation::Exit)),
            threads
        );
        // What the destructors do comes before the thread's end.
        let mut ended = std::collections::HashSet::new();
        for event in trace.events() {
            assert!(!ended.contains(&event.thread), "{event:?}");
            if event.operation == Operation::Exit {
                ended.insert(event.thread);
            }
        }
    }
}

#[test]
fn an_address_used_again_is_a_new_location() {
    need_gcc();
    let program = Program::build("reuse.c", "gcc", &[]);
    for strategy in STRATEGIES {
        // With one thread, most of it need not be recorded.
        let settings = [("WMFIX_STRATEGY", strategy), ("WMFIX_FILTER", "off")];
        let trace = program.run_with(&settings, 1, &[]).well(strategy);
        let births = trace.count(|operation| matches!(operation, Operation::Birth { .. }));
        // Three on the heap, three on the stack, three thread-local, three
        // lives of the global one.
        assert_eq!(births, 12, "{strategy}");
    }
}

#[test]
fn what_a_thread_leaves_is_not_another_ones_stack() {
    need_gcc();
    let program = Program::build("stacks.c", "gcc", &[]);
    for strategy in STRATEGIES {
        let settings = [("WMFIX_STRATEGY", strategy), ("WMFIX_FILTER", "off")];
        let trace = program.run_with(&settings, 1, &[]).well(strategy);
        let births = |bytes| {
            trace.count(
                |operation| matches!(operation, Operation::Birth { size, .. } if *size == bytes),
            )
        };
        // The pointer and what it points to; one for each call.
        assert_eq!((births(8), births(4)), (2, 3), "{strategy}");
    }
}

#[test]
fn a_detached_thread_does_not_outlive_the_process() {
    need_gcc();
    let program = Program::build("detached.c", "gcc", &[]);
    for strategy in STRATEGIES {
        for seed in 0..5 {
            let trace = program.run(strategy, seed).well(strategy);
            assert_eq!(trace.ending, Ending::Complete(End::Exit { code: 0 }));
        }
    }
}

#[test]
fn where_files_may_not_grow_the_program_runs_on() {
    need(&[Need::Program("gcc"), Need::Program("bash")]);
    let program = Program::build("long.c", "gcc", &[]);
    for strategy in STRATEGIES {
        let mut limited = Command::new("bash");
        limited.args(["-c", "ulimit -f 200; exec \"$PROGRAM\" 100000"]);
        let run = program.run_command(limited, &[("WMFIX_STRATEGY", strategy)], 1);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "ok\n"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("cannot grow"), "{}", run.stderr);
        let trace = run.only_trace();
        assert!(matches!(
            trace.ending,
            Ending::Complete(End::NoSpace { .. })
        ));
        assert!(trace.events().count() > 5_000);

        // Not even a header fits: no trace, but the program runs.
        let mut limited = Command::new("bash");
        limited.args(["-c", "ulimit -f 0; exec \"$PROGRAM\" 1000"]);
        let run = program.run_command(limited, &[("WMFIX_STRATEGY", strategy)], 1);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "ok\n"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn on_a_full_disk_the_program_runs_on() {
    let needs = [Need::Program("gcc"), Need::Program("unshare")];
    need(&needs);
    const CANNOT_MOUNT: i32 = 77;
    let program = Program::build("long.c", "gcc", &[]);
    for (strategy, size, fits) in [
        ("pct", "256k", true),
        ("os", "256k", true),
        ("pct", "4k", false),
    ] {
        let script = format!(
            "small=$(mktemp -d -p .)\n\
             mount -t tmpfs -o size={size} tmpfs \"$small\" || exit {CANNOT_MOUNT}\n\
             WMFIX_OUT=$small \"$PROGRAM\" 100000; code=$?\n\
             cp \"$small\"/* \"$WMFIX_OUT\" 2>/dev/null\n\
             exit $code"
        );
        let mut command = Command::new("unshare");
        // As whoever may mount in a space of its own.
        command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
        let run = program.run_command(command, &[("WMFIX_STRATEGY", strategy)], 1);
        if run.code == Some(CANNOT_MOUNT) || run.stderr.starts_with("unshare:") {
            cannot_run(format!("needs to mount a file system: {}", run.stderr));
        }
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(0), "ok\n"),
            "{}",
            run.stderr
        );
        if !fits {
            assert!(
                run.stderr.contains("cannot write a trace"),
                "{}",
                run.stderr
            );
            continue;
        }
        assert!(run.stderr.contains("cannot grow"), "{}", run.stderr);
        let trace = run.only_trace();
        let no_space = Ending::Complete(End::NoSpace { errno: 28 });
        assert_eq!(trace.ending, no_space);
        assert!(trace.events().count() > 5_000);
    }
}

#[test]
fn a_trace_stops_at_its_limit_and_the_program_goes_on() {
    need_gcc();
    let program = Program::build("long.c", "gcc", &[]);
    for strategy in STRATEGIES {
        let settings = [
            ("WMFIX_STRATEGY", strategy),
            ("WMFIX_TRACE_LIMIT", "200000"),
        ];
        let run = program.run_with(&settings, 1, &["100000"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(
            run.stderr.contains("limit of 200000 bytes"),
            "{}",
            run.stderr
        );
        let trace = run.only_trace();
        assert_eq!(trace.ending, Ending::Complete(End::LimitReached));
        assert!(trace.events().count() > 5_000);
        let size = std::fs::metadata(&trace.path).expect("the trace").len();
        assert!(size <= 200_000, "{size}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_said_and_the_program_runs() {
    need_gcc();
    let program = Program::build("long.c", "gcc", &[]);
    let run = program.run_with(&[("WMFIX_OUT", "/nonexistent/folder")], 1, &[]);
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.contains("cannot write a trace"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_setting_that_makes_no_sense_stops_the_program_before_main() {
    need_gcc();
    let program = Program::build("long.c", "gcc", &[]);
    for setting in [
        ("WMFIX_STRATEGY", "best"),
        ("WMFIX_RACES", "maybe"),
        ("WMFIX_LENGTH", "many"),
        ("WMFIX_REPLAY", "/nonexistent/trace"),
    ] {
        let run = program.run_with(&[setting], 1, &[]);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(125), ""),
            "{setting:?}"
        );
        assert!(run.stderr.starts_with("wmfix: "), "{}", run.stderr);
    }
}
