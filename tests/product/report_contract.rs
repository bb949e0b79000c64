//! `--format json` as the contract has it: every field of it, with its type, for
//! every verdict and command; and the same again from the same seed.

use crate::report_support::{MESSAGE_PASSING, PETERSON, STORE_BUFFERING, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::World;

/// A world with a program of each sort.
fn world() -> World {
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    world.write("mp.c", MESSAGE_PASSING);
    world.write("peterson.c", PETERSON);
    world.write("clean.c", &STORE_BUFFERING.replace("relaxed", "seq_cst"));
    world.write(
        "crash.c",
        "#include <stdlib.h>\nint main(void) { abort(); }\n",
    );
    world
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a text: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {value}"))
}

fn seconds(value: &Value) {
    assert!(value.as_f64().is_some_and(|s| s >= 0.0), "{value}");
}

fn one_of<'v>(value: &'v Value, words: &[&str]) -> &'v str {
    let word = text(value);
    assert!(words.contains(&word), "{word} is none of {words:?}");
    word
}

fn place(value: &Value) {
    let keys: Vec<&String> = value.as_object().expect("a place").keys().collect();
    assert_eq!(keys.len(), 6, "{value}");
    for key in ["file", "function", "operation", "order"] {
        text(&value[key]);
    }
    number(&value["line"]);
    number(&value["column"]);
}

/// A place that the source has.
fn known_place(value: &Value) {
    place(value);
    assert!(number(&value["line"]) > 0, "{value}");
    for key in ["file", "function", "operation"] {
        assert!(!text(&value[key]).is_empty(), "{value}");
    }
}

const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// Checks every field that the contract names.
fn assert_contract(report: &Value) {
    assert_eq!(number(&report["version"]), 2);
    let asked = &report["criterion"]["asks_for"];
    one_of(asked, &["correctness", "robustness"]);
    for notice in list(&report["notices"]) {
        text(&notice["program"]);
        for name in ["sees", "complete"] {
            assert!(notice[name].is_boolean(), "{notice}");
        }
        let (undone, noticed) = (&notice["stores_undone"], &notice["stores_noticed"]);
        assert!(number(noticed) <= number(undone), "{notice}");
        for loss in list(&notice["orders"]) {
            known_place(&loss["place"]);
            one_of(&loss["had"], &ORDERS);
            one_of(&loss["left"], &ORDERS);
            one_of(&loss["noticed"], &["failure", "race", "nothing"]);
        }
    }
    one_of(&report["verdict"], &["clean", "findings", "failed"]);
    for key in ["total", "incomplete", "distinct_schedules", "events"] {
        number(&report["runs"][key]);
    }
    seconds(&report["runs"]["seconds"]);
    let sites = &report["sites"];
    let unreached = list(&sites["unreached"]);
    unreached.iter().for_each(known_place);
    let known = number(&sites["reached"]) + unreached.len() as u64;
    assert_eq!(number(&sites["total"]), known, "{sites}");
    for (at, failure) in (1..).zip(list(&report["failures"])) {
        assert_eq!(text(&failure["id"]), format!("F{at}"));
        let kinds = [
            "misuse", "deadlock", "livelock", "signal", "exit", "timeout",
        ];
        one_of(&failure["kind"], &kinds);
        assert!(number(&failure["runs"]) > 0, "{failure}");
        number(&failure["seed"]);
        text(&failure["command"]);
    }
    for (at, violation) in (1..).zip(list(&report["violations"])) {
        assert_eq!(text(&violation["id"]), format!("V{at}"));
        assert!(!text(&violation["stable_id"]).is_empty());
        assert!(violation["counts"].is_boolean(), "{violation}");
        one_of(
            &violation["kind"],
            &["stale-read", "stale-write", "stale-rmw"],
        );
        known_place(&violation["access"]);
        place(&violation["write"]);
        assert!(!list(&violation["threads"]).is_empty());
        list(&violation["threads"]).iter().for_each(|thread| {
            number(thread);
        });
        text(&violation["location"]);
        let reads = violation["kind"] != "stale-write";
        assert_eq!(violation["read_value"].is_u64(), reads, "{violation}");
        list(&violation["stale_values"]);
        assert!(violation["same_value"].is_boolean());
        assert!(violation["witness_checked"].is_boolean());
        assert!(number(&violation["runs"]) > 0);
        number(&violation["seed"]);
        assert_harm(&violation["harm"]);
    }
    for (at, race) in (1..).zip(list(&report["races"])) {
        assert_eq!(text(&race["id"]), format!("R{at}"));
        assert!(!text(&race["stable_id"]).is_empty());
        known_place(&race["first"]);
        known_place(&race["second"]);
        text(&race["location"]);
        assert!(race["frees"].is_null() || ["first", "second"].contains(&text(&race["frees"])));
        number(&race["seed"]);
    }
    assert!(report.as_object().unwrap().contains_key("repair"));
    assert!(report.as_object().unwrap().contains_key("free_runs"));
    assert!(report.as_object().unwrap().contains_key("proof"));
    if !report["proof"].is_null() {
        assert_proof(&report["proof"]);
    }
    if !report["free_runs"].is_null() {
        assert_free_runs(&report["free_runs"]);
    }
    if !report["repair"].is_null() {
        assert_repair(&report["repair"]);
    }
    for left in list(&report["unrepairable"]) {
        text(&left["text"]);
    }
    list(&report["notes"]).iter().for_each(|note| {
        text(note);
    });
}

fn assert_harm(harm: &Value) {
    let verdicts = ["harmful", "not-decided", "no-effect-seen", "not-tried"];
    one_of(&harm["verdict"], &verdicts);
    number(&harm["runs"]);
    text(&harm["ended"]);
    list(&harm["stack"]).iter().for_each(|line| {
        text(line);
    });
    for key in ["seed", "command"] {
        assert!(harm.as_object().unwrap().contains_key(key), "{harm}");
    }
}

fn assert_proof(proof: &Value) {
    for name in ["complete", "proved"] {
        assert!(proof[name].is_boolean(), "{proof}");
    }
    for name in ["classes", "runs", "open"] {
        assert!(proof[name].is_u64(), "{proof}");
    }
    assert!(proof["estimate"].is_u64() || proof["estimate"].is_null());
    assert!(proof["obstacles"].is_array(), "{proof}");
}

fn assert_free_runs(free: &Value) {
    for key in ["total", "stale", "racy", "telling"] {
        number(&free[key]);
    }
    for (at, finding) in (1..).zip(list(&free["findings"])) {
        assert_eq!(text(&finding["id"]), format!("W{at}"));
        assert_harm(finding);
        assert!(!list(&finding["choices"]).is_empty(), "{finding}");
        for choice in list(&finding["choices"]) {
            known_place(&choice["access"]);
            place(&choice["write"]);
            number(&choice["thread"]);
        }
    }
}

fn assert_repair(repair: &Value) {
    for change in list(&repair["changes"]) {
        known_place(&change["place"]);
        one_of(&change["to"], &ORDERS);
        match one_of(&change["kind"], &["order", "fence"]) {
            "fence" => {
                assert_eq!(change["from"], "none");
                one_of(&change["side"], &["before", "after"]);
            }
            _ => {
                assert_eq!(change["from"], change["place"]["order"]);
            }
        }
        for words in ["what", "without", "ensures"] {
            assert!(!text(&change[words]).is_empty(), "{change}");
        }
        assert!(!list(&change["removes"]).is_empty(), "{change}");
    }
    number(&repair["cost"]);
    one_of(&repair["profile"], &["fewest", "x86", "arm64", "portable"]);
    assert!(repair["optimal"].is_boolean());
    number(&repair["verified_runs"]);
    assert!(text(&repair["patch"]).starts_with("diff --git a/"));
}

/// The report without what two runs differ in.
fn without_seconds(mut report: Value) -> Value {
    report["runs"]["seconds"].take();
    report
}

#[test]
fn every_field_of_the_contract_is_there_for_every_verdict() {
    need_tools();
    let world = world();
    let cases = [
        ("check clean.c", "clean", 0),
        ("suggest clean.c", "clean", 0),
        ("check peterson.c", "findings", 1),
        ("check peterson.c --weak", "findings", 1),
        ("suggest peterson.c", "findings", 1),
        ("suggest sb.c --cost x86", "findings", 1),
        ("suggest mp.c --races off", "clean", 0),
        ("check crash.c", "failed", 3),
        ("suggest crash.c", "failed", 3),
    ];
    for (command, verdict, code) in cases {
        let ran = wmfix(&world, &format!("{command} --runs 20 --format json"));
        assert_eq!(ran.code, Some(code), "{command}: {ran:?}");
        let report = ran.json();
        assert_contract(&report);
        assert_eq!(report["verdict"], verdict, "{command}");
        let repaired = command.starts_with("suggest") && verdict == "findings";
        assert_eq!(report["repair"].is_object(), repaired, "{command}");
    }
}

#[test]
fn what_was_built_by_hand_is_reported_in_the_same_words() {
    need_tools();
    let world = world();
    let built = wmfix(&world, "cc -o peterson peterson.c -pthread");
    assert_eq!(built.code, Some(0), "{built:?}");
    let ran = wmfix(&world, "run --runs 20 --format json -- ./peterson");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_contract(&ran.json());
}

#[test]
fn the_same_seed_gives_the_same_report_whatever_runs_at_a_time() {
    need_tools();
    let world = world();
    for command in ["check", "suggest"] {
        let report = |jobs: u32| {
            let line =
                format!("{command} peterson.c --runs 20 --seed 7 --jobs {jobs} --format json");
            without_seconds(wmfix(&world, &line).json())
        };
        let first = report(1);
        assert_eq!(first["verdict"], "findings");
        assert_eq!(first, report(1), "{command}");
        assert_eq!(first, report(2), "{command} --jobs 2");
    }
}

#[test]
fn what_cannot_be_repaired_says_why() {
    need_tools();
    let world = World::new();
    world.write(
        "race.c",
        "#include <pthread.h>\nstatic int shared;\n\
         static void *work(void *p) { shared++; return p; }\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, work, 0);\n\
         \x20   pthread_create(&b, 0, work, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n\
         \x20   return 0;\n}\n",
    );
    let report = wmfix(&world, "suggest race.c --runs 20 --format json").json();
    assert_contract(&report);
    assert!(report["repair"].is_null());
    let left = list(&report["unrepairable"]);
    let named: Vec<&Value> = left
        .iter()
        .flat_map(|left| list(&left["findings"]))
        .collect();
    let races: Vec<&Value> = list(&report["races"])
        .iter()
        .map(|race| &race["id"])
        .collect();
    assert_eq!(named, races);
}
