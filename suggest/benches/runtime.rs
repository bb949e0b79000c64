//! The runtime against libtsan, in one run: `cargo bench -p wmfix --bench
//! runtime`. The same program of nothing but atomics, built by the same compiler
//! with either, run in turns so that a busy machine is busy for both; of each
//! the best of several rounds counts. Nanoseconds of processor time for one
//! operation.

use std::path::Path;
use std::process::Command;

use wmfix_tests::product::{CommandResult, use_binary};
use wmfix_tests::runs::Program;

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/corpus/runtime/bench.c"
);
const OPERATIONS: &str = "1000000";
const ROUNDS: usize = 5;

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    // `cargo test` runs benches too; these numbers would mean nothing there.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let ours = Program::build("bench.c", "gcc", &["-O2"]);
    let program = ours.folder().join("program");
    let theirs = ours.folder().join("with-libtsan");
    let mut build = Command::new("gcc");
    build
        .args(["-fsanitize=thread", "-O2", "-g", SOURCE, "-lpthread", "-o"])
        .arg(&theirs);
    CommandResult::well(&mut build);

    println!("threads locations   libtsan recording, os   ratio   kept turn, pct");
    for threads in [1, 2, 8, 25] {
        for locations in [10, 1_000, 60_000] {
            let shape = [
                threads.to_string(),
                locations.to_string(),
                OPERATIONS.to_owned(),
            ];
            let mut best = [f64::INFINITY; 3];
            for _ in 0..ROUNDS {
                let out = tempfile::tempdir().expect("a folder for traces");
                let times = [
                    time(&theirs, &shape, &[], out.path()),
                    time(&program, &shape, &[("WMFIX_STRATEGY", "os")], out.path()),
                    // No priority changes: each thread runs for as long as it may.
                    time(&program, &shape, &[("WMFIX_DEPTH", "0")], out.path()),
                ];
                for (best, time) in best.iter_mut().zip(times) {
                    *best = best.min(time.1);
                }
            }
            let [tsan, os, kept] = best;
            println!(
                "{threads:>7} {locations:>9} {tsan:>9.1} {os:>13.1} {:>7.2} {kept:>16.1}",
                os / tsan
            );
        }
    }

    println!("\nthreads   switches a second (random walk, a switch at nearly every operation)");
    for threads in [2, 4, 8] {
        let shape = [threads.to_string(), "10".to_owned(), "20000".to_owned()];
        let out = tempfile::tempdir().expect("a folder for traces");
        let settings = [("WMFIX_STRATEGY", "random")];
        let (wall, _) = time(&program, &shape, &settings, out.path());
        let trace = wmfix_tests::runs::Trace::read(
            &std::fs::read_dir(out.path())
                .expect("the folder")
                .next()
                .expect("a trace")
                .expect("an entry")
                .path(),
        );
        let turns = trace
            .records
            .iter()
            .filter(|record| matches!(record, wmfix_trace::Record::Turn(_)))
            .count();
        let seconds = wall * 20_000.0 / 1e9;
        println!("{threads:>7} {:>10.0}", turns as f64 / seconds);
    }
}

/// Nanoseconds of an operation, by the clock and in processor time.
fn time(program: &Path, shape: &[String], settings: &[(&str, &str)], out: &Path) -> (f64, f64) {
    let mut command = Command::new(program);
    command
        .args(shape)
        .env("WMFIX_OUT", out)
        .envs(settings.iter().copied());
    let printed = CommandResult::well(&mut command).stdout;
    let mut numbers = printed
        .split_whitespace()
        .map(|number| number.parse::<f64>().expect("a number"));
    let (Some(wall), Some(busy)) = (numbers.next(), numbers.next()) else {
        panic!("{printed}");
    };
    // Traces of a benchmark are not kept until the disk is full.
    if settings.iter().all(|(_, value)| *value != "random") {
        for entry in std::fs::read_dir(out).expect("the folder").flatten() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    (wall, busy)
}
