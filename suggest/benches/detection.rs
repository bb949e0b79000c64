//! How often one run is enough: for the published bugs of data structures, in how
//! many of 1,000 runs, each with its own seed, the race is found by that very run, by happens-before
//! alone and with prediction. Beside it the rate that the paper on C11Tester ("A
//! Race Detector for C/C++ Atomics", Luo and Demsky, ASPLOS 2021) prints for the
//! program of that name. Its programs are not these: ours have the same structure
//! and a bug of the same kind, written anew.

use std::path::Path;
use std::thread;

use wmfix_tests::product::{CommandResult, World, use_binary};

/// Of a hundred runs, five more or less are chance.
const SEEDS: u64 = 1000;

/// The program, and the published rate in percent.
const PROGRAMS: [(&str, Option<f64>); 9] = [
    ("barrier", Some(76.6)),
    ("chase_lev", Some(94.6)),
    ("dekker_fences", Some(21.6)),
    ("linuxrwlocks", Some(86.2)),
    ("mcs", Some(89.4)),
    ("mpmc", Some(59.4)),
    ("ms_queue", Some(100.0)),
    ("relaxed_link", None),
    ("figure_1a", None),
];

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    println!("races found in {SEEDS} runs, in percent");
    println!("program        | runs show | predicted too | published");
    let mut sums = [0.0; 3];
    for (name, published) in PROGRAMS {
        let world = World::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/corpus/structures")
            .join(format!("{name}.c"));
        let mut command = world.wmfix("gcc");
        command
            .args(["cc", "-g", "-pthread", "-o", name])
            .arg(source);
        CommandResult::well(&mut command);
        let [shown, predicted] = ["on", "predict"].map(|races| rate(&world, name, races));
        let text = published.map_or_else(String::new, |rate| format!("{rate:9.1}"));
        println!("{name:14} | {shown:9.1} | {predicted:13.1} | {text}");
        if let Some(published) = published {
            for (sum, rate) in sums.iter_mut().zip([shown, predicted, published]) {
                *sum += rate;
            }
        }
    }
    let [shown, predicted, published] = sums.map(|sum| sum / 7.0);
    println!("average of 7   | {shown:9.1} | {predicted:13.1} | {published:9.1}");
}

/// In how many runs of a hundred a race is found.
fn rate(world: &World, program: &str, races: &str) -> f64 {
    let workers = thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let found_by = |worker: u64| {
        let seeds = (1..=SEEDS).filter(|seed| seed % workers == worker);
        seeds
            .filter(|seed| is_found(world, program, races, *seed))
            .count()
    };
    let found: usize = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || found_by(worker)))
            .collect();
        let counts = handles.into_iter().map(|handle| handle.join());
        counts.map(|count| count.expect("a count")).sum()
    });
    100.0 * found as f64 / SEEDS as f64
}

/// Whether the one run with the seed shows a race.
fn is_found(world: &World, program: &str, races: &str, seed: u64) -> bool {
    let mut command = world.wmfix("gcc");
    command.args(["run", "--runs", "1", "--format", "json", "--races", races]);
    command.args(["--seed", &seed.to_string(), "--"]);
    command.arg(world.path().join(program));
    let report = CommandResult::of(&mut command).json();
    // A run with anything new is followed by another one, with the next seed.
    let of_this_run = |race: &serde_json::Value| race["seed"].as_u64() == Some(seed);
    report["races"]
        .as_array()
        .is_some_and(|races| races.iter().any(of_this_run))
}
