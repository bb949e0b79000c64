//! How often a free run shows a bug: for published bugs of data structures, the
//! share of free runs that come to it, for each way of choosing. `WMFIX_BENCH_RUNS`
//! sets how many runs there are, 1,000 if unset. Beside it what the paper on
//! C11Tester ("A Race Detector for C/C++ Atomics", Luo and Demsky, ASPLOS 2021)
//! prints for its own programs of these names; ours are written anew, with a bug of
//! the same kind.

use std::path::Path;

use wmfix_tests::product::{CommandResult, World, use_binary};

/// The program, what is counted, and the published rate in percent.
const PROGRAMS: [(&str, &str, f64); 9] = [
    ("seqlock", "telling", 28.8),
    ("rwlock", "telling", 55.3),
    ("barrier", "racy", 76.6),
    ("chase_lev", "racy", 94.6),
    ("dekker_fences", "racy", 21.6),
    ("linuxrwlocks", "racy", 86.2),
    ("mcs", "racy", 89.4),
    ("mpmc", "racy", 59.4),
    ("ms_queue", "racy", 100.0),
];

const WAYS: [&str; 4] = ["mixed", "uniform", "few", "pctwm"];

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    let runs = std::env::var("WMFIX_BENCH_RUNS").unwrap_or_else(|_| "1000".to_owned());
    println!("bugs shown by {runs} free runs, in percent");
    println!("program        |  mixed | uniform |    few |  pctwm | C11Tester");
    for (name, counted, published) in PROGRAMS {
        let world = World::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/corpus/structures")
            .join(format!("{name}.c"));
        let mut command = world.wmfix("gcc");
        command
            .args(["cc", "-g", "-pthread", "-o", name])
            .arg(source);
        CommandResult::well(&mut command);
        let [mixed, uniform, few, pctwm] = WAYS.map(|how| {
            let mut command = world.wmfix("gcc");
            command.args(["run", "--runs", &runs, "--format", "json"]);
            command.args(["--races", "on"]).arg(format!("--weak={how}"));
            command.arg("--").arg(world.path().join(name));
            let report = CommandResult::of(&mut command).json();
            let free = &report["free_runs"];
            let number = |field: &str| free[field].as_f64().expect("a number");
            100.0 * number(counted) / number("total")
        });
        println!(
            "{name:14} | {mixed:6.1} | {uniform:7.1} | {few:6.1} | {pctwm:6.1} | {published:9.1}"
        );
    }
}
