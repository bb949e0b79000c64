//! The examples with every order seq_cst through `wmfix relax`: what comes out holds,
//! costs less, and needs no more. Three of them; `WMFIX_EXAMPLES=all` takes all and
//! prints a table of the new orders.

use std::fs;
use std::path::Path;

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Each example, what of it is examined, and whether CI takes it.
const EXAMPLES: [(&str, &str, bool); 10] = [
    ("chase_lev_deque", "", false),
    ("dekker", "dekker.c", false),
    ("message_passing", "message_passing.c", true),
    ("mpmc_queue", "", true),
    ("peterson", "peterson.c", false),
    ("reference_count", "reference_count.cpp", false),
    ("seqlock", "seqlock.cpp", false),
    ("spsc_ring", "", true),
    ("store_buffering", "store_buffering.c", false),
    ("treiber_stack", "treiber_stack.cpp", false),
];

#[test]
fn the_examples_written_with_seq_cst_get_weaker_orders_that_hold() {
    need(&["gcc", "g++", "cmake", "make"].map(Need::Program));
    let all = std::env::var("WMFIX_EXAMPLES").is_ok_and(|value| value == "all");
    let mut table = String::new();
    for (name, path, in_ci) in EXAMPLES {
        if all || in_ci {
            table += &relax_example(name, path);
        }
    }
    if all {
        wmfix_tests::note!("\n{table}");
    }
}

/// Relaxes an example; its row of the table.
fn relax_example(name: &str, path: &str) -> String {
    let world = World::new();
    copy_with_seq_cst(name, &world);
    let wmfix = |words: &[&str]| {
        let mut command = world.wmfix("gcc");
        command.env("WMFIX_REAL_CXX", "g++").args(words);
        CommandResult::of(&mut command)
    };
    let target = if path.is_empty() { "." } else { path };
    let ran = wmfix(&["relax", target, "--apply", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
    let report = ran.json();
    let relaxation = &report["relaxation"];
    let changes = relaxation["changes"].as_array().unwrap();
    assert!(relaxation["why"].is_null(), "{name}: {relaxation}");
    assert_eq!(relaxation["optimal"], true, "{name}: {relaxation}");
    let is_empty = relaxation["patch"].as_str().unwrap().is_empty();
    assert_eq!(is_empty, changes.is_empty(), "{name}");
    if !is_empty {
        assert!(relaxation["verified_runs"].as_u64() > Some(0), "{name}");
        assert!(
            relaxation["cost"].as_u64() < relaxation["cost_before"].as_u64(),
            "{name}"
        );
    }
    // The files have these orders now: nothing is found, and nothing is left to do.
    let checked = wmfix(&["check", target]);
    assert_eq!(checked.code, Some(0), "{name}: {}", checked.stdout);
    row(name, relaxation)
}

fn row(name: &str, relaxation: &serde_json::Value) -> String {
    let runs = relaxation["searched"]["runs"].as_u64().unwrap().max(1) as f64;
    let cost = |machine: &str| {
        let cost = |when: &str| relaxation["saves"][machine][when].as_u64().unwrap() as f64 / runs;
        format!("{:.0} → {:.0}", cost("before"), cost("after"))
    };
    let mut orders: Vec<String> = Vec::new();
    for change in relaxation["changes"].as_array().unwrap() {
        let word = |field: &serde_json::Value| field.as_str().unwrap_or_default().to_owned();
        let failure = match change["on_failure"]["to"].as_str() {
            Some(to) => format!("/{to}"),
            None => String::new(),
        };
        orders.push(format!(
            "{} `{}` {}{failure}",
            change["place"]["line"],
            word(&change["place"]["operation"]),
            word(&change["to"])
        ));
    }
    format!(
        "| {name} | {} | {} | {} | {} |\n",
        relaxation["searched"]["operations"],
        cost("x86-64"),
        cost("aarch64"),
        orders.join(", ")
    )
}

/// Copies an example with every order seq_cst; of the project with words of its own,
/// what is called is the one without an order in its name.
fn copy_with_seq_cst(name: &str, world: &World) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = fs::read_to_string(&path).unwrap();
        let is_source = [".c", ".h", ".cpp", ".hpp"]
            .iter()
            .any(|end| file.ends_with(end));
        for order in ["relaxed", "acquire", "release", "acq_rel"] {
            if is_source && name != "mpmc_queue" {
                let word = format!("memory_order_{order}");
                text = text.replace(&word, "memory_order_seq_cst");
            }
            if file == "mpmc_queue.hpp" {
                text = text.replace(&format!("_{order}("), "(");
            }
        }
        world.write(&file, &text);
    }
}
