//! Whether a repair holds in runs that it was not found on: for each known bug of
//! `tests/corpus/cases`, `suggest` looks at the runs of one half of the seeds, and
//! `check` at the patched copy in those of the other half, beside the version with the
//! maintainers' own change in the same runs. Once with as many runs as a hurried user
//! gives it, which is where a repair that fits only what was seen would show, and once
//! with more.

use wmfix_tests::cases::Case;
use wmfix_tests::product::{CommandResult, World, use_binary};

/// Runs in a row with nothing new, for the repair.
const SEARCHES: [u32; 2] = [20, 200];

/// Runs in a row with nothing new that the repair is held against.
const HELD_OUT_RUNS: u32 = 1000;

/// The first seeds of the two halves.
const HALVES: [u64; 2] = [1, 1_000_001];

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let cases: Vec<Case> = match named.is_empty() {
        true => Case::all(),
        false => named.iter().map(|name| Case::named(name)).collect(),
    };
    println!("findings that count, in {HELD_OUT_RUNS} quiet held-out runs of");
    println!(
        "{:28} | repaired after {} | after {} | maintainers'",
        "case", SEARCHES[0], SEARCHES[1]
    );
    let mut holding = [0; 3];
    for case in &cases {
        let ours = SEARCHES.map(|runs| {
            let world = World::new();
            case.write_buggy(world.path());
            repair(&world, runs).then(|| held_out(&world))
        });
        let fixed = World::new();
        case.write_fixed(fixed.path());
        let all = [ours[0], ours[1], Some(held_out(&fixed))];
        let text = all.map(|left| left.map_or_else(|| "no patch".to_owned(), |n| n.to_string()));
        println!(
            "{:28} | {:>17} | {:>9} | {:>12}",
            case.name, text[0], text[1], text[2]
        );
        for (sum, left) in holding.iter_mut().zip(all) {
            *sum += usize::from(left == Some(0));
        }
    }
    println!(
        "{:28} | {:>17} | {:>9} | {:>12}",
        format!("nothing left, of {}", cases.len()),
        holding[0],
        holding[1],
        holding[2]
    );
}

/// Repairs a project by the runs of the first half; whether there is a patch.
fn repair(world: &World, runs: u32) -> bool {
    let mut command = wmfix(world, "suggest", HALVES[0], runs);
    let report = CommandResult::of(command.arg("--apply")).json();
    let changes = report["repair"]["changes"].as_array();
    changes.is_some_and(|changes| !changes.is_empty())
}

/// How many findings the runs of the other half show that count.
fn held_out(world: &World) -> usize {
    let mut command = wmfix(world, "check", HALVES[1], HELD_OUT_RUNS);
    let report = CommandResult::of(&mut command).json();
    let all = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let mut findings = all("violations");
    findings.retain(|violation| violation["counts"] == true);
    findings.len() + all("races").len() + all("failures").len()
}

fn wmfix(world: &World, verb: &str, seed: u64, runs: u32) -> std::process::Command {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    command.args([verb, ".", "--format", "json", "--time", "120"]);
    command.args(["--seed", &seed.to_string(), "--runs", &runs.to_string()]);
    command
}
