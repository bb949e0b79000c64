//! The loop of `wmfix suggest`: runs of a patched program teach the search, what
//! cannot be changed is gone around or named, and the programs everybody knows
//! get the repairs that brute force finds cheapest (see `examples_truth`).

use std::fs;

use serde_json::Value;
use wmfix_tests::examples::example::example;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

const SEQLOCK: &str = include_str!("../corpus/suggest/seqlock.c");
const DEQUE: &str = include_str!("../corpus/suggest/deque.c");
const COMBINER: &str = include_str!("../corpus/suggest/combiner.cc");
const HELPERS_AT_CALLS: &str = include_str!("../corpus/suggest/helpers_at_calls.c");
const WRAPPER_AT_CALLS: &str = include_str!("../corpus/suggest/wrapper_at_calls.cpp");
const ORDER_FROM_A_CALLER: &str = include_str!("../corpus/suggest/order_from_a_caller.c");

fn need_tools() {
    need(&["gcc", "g++", "cmake", "ctest"].map(Need::Program));
}

fn suggest(world: &World, line: &str) -> (CommandResult, Value) {
    let mut command = world.wmfix("gcc");
    command.env("WMFIX_REAL_CXX", "g++").arg("suggest");
    command.args(line.split_whitespace());
    let ran = CommandResult::of(command.args(["--format", "json"]));
    let report = ran.json();
    (ran, report)
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// The report on an example that can be repaired, which must hold.
fn repaired(name: &str, options: &str) -> Value {
    let world = World::new();
    let parent = world.path().join("examples");
    fs::create_dir(&parent).unwrap();
    example(name).copy_into(&parent);
    let (ran, report) = suggest(&world, &format!("examples/{name} {options}"));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let repair = &report["repair"];
    assert_eq!(repair["optimal"], true, "{report}");
    assert_eq!(repair["verification"]["outcome"], "held", "{report}");
    assert_eq!(list(&report, "unrepairable").len(), 0, "{report}");
    for change in list(repair, "changes") {
        assert!(!list(change, "removes").is_empty(), "{change}");
    }
    report
}

fn changes(report: &Value) -> &[Value] {
    list(&report["repair"], "changes")
}

fn count(report: &Value, fits: impl Fn(&Value) -> bool) -> usize {
    changes(report).iter().filter(|change| fits(change)).count()
}

/// Requests that are seen late do harm only because the lock orders nothing: repairing
/// that is enough, and the patched program is seen to throw the old values away.
#[test]
fn what_does_harm_only_because_of_a_race_needs_no_change_of_its_own() {
    need_tools();
    let world = World::new();
    world.write("combiner.cc", COMBINER);
    let (ran, report) = suggest(&world, "combiner.cc --runs 300");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let harmful = list(&report, "violations").iter();
    let harmful = harmful.filter(|violation| violation["harm"]["verdict"] == "harmful");
    assert!(harmful.count() > 0, "{report}");
    assert_eq!(changes(&report).len(), 1, "{report}");
    let is_at_the_lock = |change: &Value| {
        change["place"]["line"] == 27 && change["to"] == "acquire" && change["kind"] == "order"
    };
    assert_eq!(count(&report, is_at_the_lock), 1, "{report}");
    assert_eq!(
        report["repair"]["verification"]["outcome"], "held",
        "{report}"
    );
    assert!(
        report["repair"]["searched"]["spared"].as_u64() > Some(0),
        "{report}"
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains("no change of their own"), "{notes}");
}

#[test]
fn runs_of_a_patched_program_teach_the_search() {
    need_tools();
    // Three runs show little: some of these repairs do not hold at first.
    let (mut taught, mut tried) = (0, 0);
    for (name, text) in [("seqlock.c", SEQLOCK), ("deque.c", DEQUE)] {
        for seed in 1..=12 {
            let world = World::new();
            world.write(name, text);
            let (_, report) = suggest(&world, &format!("{name} --runs 3 --seed {seed} --robust"));
            let verification = &report["repair"]["verification"];
            if verification.is_null() {
                continue;
            }
            tried += 1;
            assert_eq!(verification["outcome"], "held", "seed {seed}: {report}");
            taught += usize::from(verification["rounds"].as_u64() > Some(1));
            // Every run could be brought back, and was enough.
            let of_free_runs = |note: &Value| note.to_string().contains("free runs");
            assert!(
                list(&report, "notes").iter().all(of_free_runs),
                "seed {seed}: {report}"
            );
        }
    }
    assert!(tried > 12 && taught > 3, "{taught} of {tried}");
}

#[test]
fn the_same_seed_gives_the_same_repair() {
    need_tools();
    let world = World::new();
    world.write("deque.c", DEQUE);
    let repair = |jobs: &str| {
        let (_, mut report) = suggest(
            &world,
            &format!("deque.c --runs 3 --seed 4 --robust --jobs {jobs}"),
        );
        report["runs"]["seconds"].take();
        report
    };
    let first = repair("1");
    assert!(first["repair"]["verification"]["rounds"].as_u64() > Some(0));
    for jobs in ["1", "3"] {
        assert_eq!(repair(jobs), first, "{jobs} jobs");
    }
}

#[test]
fn the_search_goes_around_what_cannot_be_changed() {
    need_tools();
    // A release store would do, but the order is said neither there nor at the call.
    let world = World::new();
    let variable = ORDER_FROM_A_CALLER
        .replace("publish(memory_order_relaxed)", "publish(order)")
        .replace(
            "static int data;",
            "static int data;\nstatic memory_order order = memory_order_relaxed;",
        );
    world.write("caller.c", &variable);
    let (ran, report) = suggest(&world, "caller.c --cost x86");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(count(&report, |c| c["kind"] == "fence"), 1, "{report}");
    assert_eq!(changes(&report).len(), 1, "{report}");
    assert_eq!(report["repair"]["verification"]["outcome"], "held");
}

#[test]
fn what_cannot_be_changed_is_named_with_the_change_it_needs() {
    need_tools();
    let world = World::new();
    let generated = format!("/* Generated from a table. DO NOT EDIT. */\n{ORDER_FROM_A_CALLER}");
    world.write("generated.c", &generated);
    let (ran, report) = suggest(&world, "generated.c");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(report["repair"], Value::Null);
    let [left] = list(&report, "unrepairable") else {
        panic!("{report}");
    };
    assert_eq!(left["findings"], serde_json::json!(["R1"]));
    // The order is said at the call.
    assert_eq!(left["place"]["function"], "writer");
    let text = left["text"].as_str().expect("words");
    assert!(text.contains("needs release"), "{text}");
    assert!(text.contains("generated"), "{text}");
    let mut command = world.wmfix("gcc");
    let shown = CommandResult::of(command.args(["suggest", "generated.c"]));
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(1), ""));
}

#[test]
fn runs_reach_a_change_at_the_call_of_a_helper() {
    need_tools();
    let world = World::new();
    world.write("sb.c", HELPERS_AT_CALLS);
    let (_, report) = suggest(&world, "sb.c --runs 30");
    let at_calls = changes(&report).iter();
    let at_calls: Vec<_> = at_calls
        .filter(|change| change["place"]["operation"] == "put")
        .collect();
    assert_eq!(at_calls.len(), 2, "{report}");
    for change in at_calls {
        assert!(change["reached_runs"].as_u64() > Some(0), "{report}");
    }
}

/// The function does nothing but a store, of a value that it computes, and has other
/// callers.
#[test]
fn runs_reach_a_change_at_the_call_of_a_wrapper() {
    need_tools();
    let world = World::new();
    world.write("sb.cpp", WRAPPER_AT_CALLS);
    let (_, report) = suggest(&world, "sb.cpp --runs 30");
    let [change] = changes(&report) else {
        panic!("{report}");
    };
    assert_eq!(change["place"]["operation"], "set", "{report}");
    assert_eq!(change["place"]["function"], "release", "{report}");
    assert!(change["reached_runs"].as_u64() > Some(0), "{report}");
}

#[test]
fn dekkers_entry_gets_a_barrier_a_thread() {
    need_tools();
    let few = repaired("dekker", "--cost fewest");
    assert_eq!(few["repair"]["cost"], 2);
    assert_eq!(count(&few, |c| c["kind"] == "fence"), 2, "{few}");
    // On x86-64 a sequentially consistent store costs what a fence does.
    let x86 = repaired("dekker", "--cost x86");
    let stores =
        |c: &Value| c["to"] == "seq_cst" && c["place"]["operation"] == "atomic_store_explicit";
    assert_eq!(count(&x86, |c| c["kind"] == "fence" || stores(c)), 2);
    let threads: std::collections::BTreeSet<&str> = changes(&few)
        .iter()
        .filter_map(|change| change["place"]["function"].as_str())
        .collect();
    assert_eq!(threads.len(), 2, "{few}");
}

#[test]
fn petersons_lock_gets_what_brute_force_finds_cheapest() {
    need_tools();
    let report = repaired("peterson", "--cost fewest");
    assert!(!list(&report, "races").is_empty());
    // `peterson_needs_five_changes` proves it on the unrolled program. What held
    // is free of races, too: verification looks for them.
    assert_eq!(report["repair"]["cost"], 5, "{report}");
}

#[test]
fn message_passing_gets_release_and_acquire_and_no_fence() {
    need_tools();
    for cost in ["fewest", "x86", "arm64", "portable"] {
        let report = repaired("message_passing", &format!("--cost {cost}"));
        let to: Vec<&str> = changes(&report)
            .iter()
            .filter_map(|c| c["to"].as_str())
            .collect();
        assert_eq!(to, ["release", "acquire"], "{cost}");
        assert_eq!(count(&report, |c| c["kind"] == "fence"), 0);
    }
}

#[test]
fn a_work_stealing_deque_gets_no_more_fences_than_were_published() {
    need_tools();
    // Lê, Pop, Cohen and Zappa Nardelli (2013) have a full fence in take and one
    // in steal. Every change, also what goes beyond them, names the findings that
    // ask for it (`repaired` looks), and each of these is in the report.
    let report = repaired("chase_lev_deque", "");
    assert!(count(&report, |c| c["kind"] == "fence") <= 2, "{report}");
    let known: Vec<&Value> = ["violations", "races"]
        .iter()
        .flat_map(|kind| list(&report, kind))
        .map(|finding| &finding["id"])
        .collect();
    for change in changes(&report) {
        let removed = list(change, "removes").iter();
        assert!(removed.clone().all(|id| known.contains(&id)), "{change}");
    }
}
