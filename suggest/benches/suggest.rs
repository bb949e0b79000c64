//! How long `wmfix suggest` takes as people use it, and what of that is the
//! search for the repair: the Chase-Lev example, and litmus programs of the
//! corpus, one in ten or, with `all`, every one that is not robust. Building and
//! running the program, before and after the patch, is in the total.

use std::path::Path;
use std::time::Instant;

use wmfix_tests::litmus::{Spelling, corpus, emit};
use wmfix_tests::product::{CommandResult, World, use_binary};

/// Seconds.
struct Timings {
    name: String,
    total: f64,
    runs: f64,
    search: f64,
    verification: f64,
}

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    let all = std::env::args().any(|argument| argument == "all");
    println!("seconds        | total |  runs search verification");
    show(&deque());
    let entries = corpus().expect("the corpus can be read");
    let weak = entries.iter().filter(|entry| !entry.robust);
    let mut took: Vec<Timings> = weak
        .step_by(if all { 1 } else { 10 })
        .map(|entry| {
            let world = World::new();
            world.write("litmus.c", &emit(&entry.program, Spelling::C11));
            suggest(&world, &entry.program.name, "litmus.c")
        })
        .collect();
    took.sort_by(|a, b| b.total.total_cmp(&a.total));
    took.iter().take(10).for_each(show);
    let sum = |part: fn(&Timings) -> f64| took.iter().map(part).sum::<f64>();
    println!(
        "{} litmus programs: {:.1} s altogether, {:.2} s each, the slowest {:.2} s, the search {:.1} %",
        took.len(),
        sum(|t| t.total),
        sum(|t| t.total) / took.len() as f64,
        took.first().map_or(0.0, |slowest| slowest.total),
        100.0 * sum(|t| t.search) / sum(|t| t.total),
    );
}

fn deque() -> Timings {
    let world = World::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/chase_lev_deque");
    for entry in std::fs::read_dir(from).expect("the example") {
        let path = entry.expect("the example").path();
        let text = std::fs::read_to_string(&path).expect("a file of the example");
        let name = path.file_name().expect("a file").to_string_lossy();
        world.write(&format!("deque/{name}"), &text);
    }
    suggest(&world, "chase_lev_deque", "deque")
}

fn suggest(world: &World, name: &str, path: &str) -> Timings {
    let started = Instant::now();
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++");
    let ran = CommandResult::of(command.args(["suggest", path, "--format", "json"]));
    let total = started.elapsed().as_secs_f64();
    let part = |name: &str| {
        let told = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("time: "));
        let parts = told.into_iter().flat_map(|told| told.split(", "));
        let seconds = parts.filter_map(|part| part.strip_prefix(name)?.strip_suffix(" s"));
        let mut seconds = seconds.filter_map(|seconds| seconds.trim().parse().ok());
        seconds.next().unwrap_or(f64::NAN)
    };
    Timings {
        name: name.to_owned(),
        total,
        runs: part("runs"),
        search: part("search"),
        verification: part("verification"),
    }
}

fn show(took: &Timings) {
    println!(
        "{:14} | {:5.2} | {:5.2} {:6.3} {:12.2}",
        took.name, took.total, took.runs, took.search, took.verification
    );
}
