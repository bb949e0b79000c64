//! What the compilers call is all there and does what it must.

use std::collections::BTreeSet;
use std::process::Command;

use wmfix_tests::product::CommandResult;
use wmfix_tests::runs::Program;
use wmfix_tests::tools::{Need, need};
use wmfix_trace::{Order, RecordedOperation as Operation};

fn need_compilers() {
    let needs = [
        Need::Program("gcc"),
        Need::Program("clang"),
        Need::Program("nm"),
    ];
    need(&needs);
}

#[test]
fn every_operation_of_every_size_gives_what_it_must() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        for flags in [&["-O0"][..], &["-O2"], &["-DWIDE", "-mcx16"]] {
            if cfg!(not(target_arch = "x86_64")) && flags.contains(&"-mcx16") {
                continue;
            }
            let program = Program::build("operations.c", compiler, flags);
            for strategy in ["pct", "os"] {
                let run = program.run(strategy, 0);
                assert_eq!(run.stdout, "ok\n", "{compiler} {flags:?}: {}", run.stderr);
                let trace = run.well(compiler);
                let swaps =
                    trace.count(|operation| matches!(operation, Operation::CompareExchange { .. }));
                let sizes = if flags.contains(&"-DWIDE") { 5 } else { 4 };
                // gcc calls libatomic for some of the wide ones, which nobody sees.
                let floor = if compiler == "gcc" { 4 } else { sizes };
                assert!((5 * floor..=5 * sizes).contains(&swaps), "{swaps}");
                let fences = Operation::Fence {
                    order: Order::SeqCst,
                };
                assert!(trace.count(|operation| *operation == fences) >= 1);
            }
        }
    }
}

/// The names of the functions that a file defines for others.
fn defined(file: &str, dynamic: bool) -> BTreeSet<String> {
    let mut command = Command::new("nm");
    command.arg("--defined-only").arg(file);
    if dynamic {
        command.arg("-D");
    }
    let listing = CommandResult::well(&mut command).stdout;
    listing
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

#[test]
fn whatever_instrumented_code_may_call_is_there() {
    need_compilers();
    let program = Program::build("long.c", "gcc", &[]);
    let ours = defined(
        program.folder().join("program").to_str().expect("a path"),
        false,
    );
    let library =
        CommandResult::well(Command::new("gcc").arg("-print-file-name=libtsan.so")).stdout;
    let theirs = defined(library.trim(), true);
    assert!(theirs.len() > 100);
    // What is for debuggers, tests and other languages, not for C and C++.
    let beside_the_point = [
        "__tsan_java_",
        "__tsan_get_",
        "__tsan_testonly_",
        "__tsan_symbolize_",
        "__tsan_default_",
        "__tsan_on_",
        "__tsan_locate_",
    ];
    let missing: Vec<&String> = theirs
        .iter()
        .filter(|name| name.starts_with("__tsan_") || name.starts_with("Annotate"))
        .filter(|name| {
            !beside_the_point
                .iter()
                .any(|prefix| name.starts_with(prefix))
        })
        .filter(|name| !ours.contains(*name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    // What libtsan has no symbol for in older versions, but compilers call.
    for size in [1, 2, 4, 8, 16] {
        for name in [
            "volatile_read",
            "volatile_write",
            "unaligned_volatile_read",
            "read_write",
        ] {
            let name = format!("__tsan_{name}{size}");
            assert!(ours.contains(&name), "{name}");
        }
    }
    for name in ["__tsan_memcpy", "__tsan_memmove", "__tsan_memset"] {
        assert!(ours.contains(name), "{name}");
    }
}

#[test]
fn volatile_is_what_it_is_said_to_be() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("volatile.c", compiler, &[]);
        for (meaning, load, store) in [
            ("relaxed", Order::Relaxed, Order::Relaxed),
            ("acqrel", Order::Acquire, Order::Release),
        ] {
            for seed in 0..5 {
                let settings = [("WMFIX_VOLATILE", meaning)];
                let run = program.run_with(&settings, seed, &[]);
                let trace = run.well(meaning);
                let stores: Vec<(Order, u128)> = trace
                    .events()
                    .filter_map(|event| match event.operation {
                        Operation::Store { order, value, .. } => Some((order, value)),
                        _ => None,
                    })
                    .collect();
                assert_eq!(stores, [(store, 42), (store, 1)], "{compiler} {meaning}");
                let loads = trace.events().filter(
                    |event| matches!(event.operation, Operation::Load { order, .. } if order == load),
                );
                assert!(loads.count() >= 2);
            }
        }
    }
    // Ignored: nothing is recorded, and the loop must still end.
    let program = Program::build("volatile.c", "gcc", &[]);
    let trace = program.run("pct", 1).well("ignored");
    assert_eq!(
        trace.count(|operation| matches!(operation, Operation::Load { .. })),
        0
    );
}

#[test]
fn plain_accesses_are_recorded_when_races_are_looked_for() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let program = Program::build("spinning.c", compiler, &[]);
        for strategy in ["pct", "os"] {
            let settings = [("WMFIX_RACES", "on"), ("WMFIX_STRATEGY", strategy)];
            let trace = program.run_with(&settings, 1, &[]).well("races");
            assert!(trace.header.races);
            let plain =
                trace.count(|operation| matches!(operation, Operation::Write { size: 4, .. }));
            // The counter is written 84 times.
            assert!(plain >= 84, "{compiler}: {plain}");
        }
    }
}

#[test]
fn instrumented_libraries_loaded_at_run_time_are_seen() {
    need_compilers();
    for compiler in ["gcc", "clang"] {
        let host = Program::build("plugin_host.c", compiler, &["-ldl"]);
        let library = Program::build("plugin.c", compiler, &["-shared", "-fPIC"]);
        let library = library.folder().join("program");
        for strategy in ["pct", "random", "os"] {
            let settings = [("WMFIX_STRATEGY", strategy)];
            let run = host.run_with(&settings, 1, &[library.to_str().expect("a path")]);
            assert_eq!(run.stdout, "ok\n", "{compiler} {strategy}: {}", run.stderr);
            let trace = run.well(strategy);
            let adds = trace.count(|operation| matches!(operation, Operation::Rmw { .. }));
            assert_eq!(adds, 44);
            let named = trace.records.iter().any(|record| {
                matches!(record, wmfix_trace::Record::Module(module)
                    if std::path::Path::new(&module.path) == library)
            });
            assert!(named, "{compiler} {strategy}");
        }
    }
}

#[test]
fn teams_of_openmp_are_ordered() {
    need_compilers();
    let program = Program::build("openmp.c", "gcc", &["-fopenmp"]);
    for strategy in ["pct", "os"] {
        for seed in 0..2 {
            let run = program.run(strategy, seed);
            assert_eq!(run.stdout, "ok\n", "{strategy} {seed}: {}", run.stderr);
            let trace = run.well(strategy);
            let signal = wmfix_trace::LockMode::Signal;
            // Three teams of three: each member arrives, meets the others and leaves.
            let acquires = trace.count(
                |operation| matches!(operation, Operation::Acquire { mode, .. } if *mode == signal),
            );
            assert_eq!(acquires, 3 * (3 + 3 + 1));
        }
    }
}
