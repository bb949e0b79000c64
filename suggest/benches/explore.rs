//! All runs of small clients, as two tables: `cargo bench -p wmfix --bench explore`.
//! The first has the examples, repaired and made small; the second shapes that other
//! model checkers use, beside the numbers that GenMC's own tests expect of it under
//! sequential consistency. Each is explored for at most a minute. Prints Markdown.
//!
//! `cargo bench -p wmfix --bench explore -- NAME` takes only rows with NAME.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wmfix_tests::product::{CommandResult, World, use_binary};

/// Each exploration ends after this many seconds.
const SECONDS: &str = "60";

/// An example: its folder, what makes its client small, as a file with what is replaced
/// in it, and which client that is.
struct Example {
    name: &'static str,
    smaller: &'static [(&'static str, &'static str, &'static str)],
    client: &'static str,
}

const EXAMPLES: [Example; 10] = [
    Example {
        name: "chase_lev_deque",
        smaller: &[("test_deque.cpp", "rounds = 2", "rounds = 1")],
        client: "2 pushes, 2 pops; 2 steals",
    },
    Example {
        name: "dekker",
        smaller: &[("dekker.c", "ROUNDS = 4", "ROUNDS = 2")],
        client: "2 threads × 2 critical sections",
    },
    Example {
        name: "message_passing",
        smaller: &[],
        client: "one message",
    },
    Example {
        name: "mpmc_queue",
        smaller: &[
            ("test_mpmc_queue.cpp", "pairs = 2", "pairs = 1"),
            ("test_mpmc_queue.cpp", " + received[1][i]", ""),
        ],
        client: "2 puts; 2 gets",
    },
    Example {
        name: "peterson",
        smaller: &[("peterson.c", "ROUNDS = 4", "ROUNDS = 2")],
        client: "2 threads × 2 critical sections",
    },
    Example {
        name: "reference_count",
        smaller: &[("reference_count.cpp", "threads = 3", "threads = 2")],
        client: "2 threads × 4 entries, then release",
    },
    Example {
        name: "seqlock",
        smaller: &[
            ("seqlock.cpp", "moves = 4", "moves = 2"),
            ("seqlock.cpp", "copies = 4", "copies = 2"),
        ],
        client: "2 writes; 2 reads",
    },
    Example {
        name: "spsc_ring",
        smaller: &[("test_ring.c", "PACKETS = 6", "PACKETS = 3")],
        client: "3 puts; 3 gets",
    },
    Example {
        name: "store_buffering",
        smaller: &[],
        client: "2 threads × 2 accesses",
    },
    Example {
        name: "treiber_stack",
        smaller: &[("treiber_stack.cpp", "each = 3", "each = 1")],
        client: "2 threads × push, pop",
    },
];

/// A shape: its file, the client, and how many executions GenMC's tests expect of
/// theirs (`tests/correct/data-structures/NAME/expected.sc.mo.in` of GenMC's
/// repository, commit b03f01e of April 2025).
const SHAPES: [(&str, &str, &str, u64); 7] = [
    ("ms_queue.c", "2 threads × put, take", "ms-queue", 50),
    (
        "treiber_stack.c",
        "2 pushers, 1 popper",
        "treiber-stack",
        18,
    ),
    ("ttas_lock.c", "2 threads × 1", "ttaslock", 4),
    ("ticket_lock.c", "2 threads × 1", "ticketlock", 2),
    ("mcs_lock.c", "2 threads × 1", "mcs_spinlock", 6),
    ("seqlock.c", "1 writer, 1 locking reader", "seqlock", 2),
    (
        "chase_lev.c",
        "5 pushes, 3 pops, 2 pushes; 1 steal",
        "chase-lev",
        59,
    ),
];

fn main() {
    use_binary(env!("CARGO_BIN_EXE_wmfix"));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` runs benches too; these numbers would mean nothing there.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(*part));
    println!("| example, repaired | client | result | classes | seconds | runs a second |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for example in EXAMPLES.iter().filter(|example| wanted(example.name)) {
        let report = explore_example(example);
        println!(
            "| {} | {} | {} |",
            example.name,
            example.client,
            row(&report)
        );
    }
    println!("\n| shape | client | result | classes | seconds | runs a second | GenMC (SC) |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (file, client, theirs, executions) in SHAPES.iter().filter(|(file, ..)| wanted(file)) {
        let world = World::new();
        let source = fs::read_to_string(tests().join("explore").join(file));
        world.write(file, &source.expect("a source file"));
        let report = explore(&world, &[file]);
        println!(
            "| {file} | {client} | {} | {executions} ({theirs}) |",
            row(&report)
        );
    }
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// A copy of the example with its patch and its small client, explored.
fn explore_example(example: &Example) -> Value {
    let world = World::new();
    let folder = tests().join("../examples").join(example.name);
    let mut patch = None;
    for entry in fs::read_dir(&folder).expect("an example") {
        let path = entry.expect("an entry of a folder").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).expect("a text");
        match &*name {
            "expected.patch" => patch = Some(world.write("expected.patch", &text)),
            "README.md" => {}
            _ => {
                world.write(&name, &text);
            }
        }
    }
    let patch = patch.expect("a patch");
    let mut apply = Command::new("patch");
    apply.current_dir(world.path()).args(["-p3", "-s", "-i"]);
    CommandResult::well(apply.arg(patch));
    for (file, before, after) in example.smaller {
        let path = world.path().join(file);
        let text = fs::read_to_string(&path).expect("a source file");
        assert!(text.contains(before), "{file} has no `{before}`");
        world.write(file, &text.replace(before, after));
    }
    explore(&world, &["."])
}

fn explore(world: &World, what: &[&str]) -> Value {
    let mut command = world.wmfix("gcc");
    command.env_remove("WMFIX_RUNS").env("WMFIX_RUNS", "10");
    command.args(["check", "--exhaustive", "--harm", "off", "--time", SECONDS]);
    CommandResult::of(command.args(["--format", "json"]).args(what)).json()
}

/// Result, classes, seconds, runs a second.
fn row(report: &Value) -> String {
    let proof = &report["proof"];
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let (runs, seconds) = (number(&proof["runs"]), report["runs"]["seconds"].as_f64());
    let seconds = seconds.unwrap_or_default();
    let result = match (proof["proved"] == true, proof["complete"] == true) {
        (true, _) => "proved".to_owned(),
        (_, true) => "refuted".to_owned(),
        _ => format!("{} schedules open", number(&proof["open"])),
    };
    let rate = runs as f64 / seconds.max(0.001);
    format!(
        "{result} | {} | {seconds:.1} | {rate:.0}",
        number(&proof["classes"])
    )
}
