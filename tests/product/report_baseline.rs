//! `wmfix baseline` and `--baseline`: what is known does not fail, what is new does.

use std::fs;

use crate::report_support::{TWO_CAUSES, need_tools, wmfix};
use wmfix_tests::product::World;

/// The program without its race: store buffering only.
fn store_buffering_only() -> String {
    let released = "atomic_store_explicit(&ready, 1, memory_order_release)";
    let acquired = "atomic_load_explicit(&ready, memory_order_acquire)";
    TWO_CAUSES
        .replace(
            "atomic_store_explicit(&ready, 1, memory_order_relaxed)",
            released,
        )
        .replace(
            "atomic_load_explicit(&ready, memory_order_relaxed)",
            acquired,
        )
}

#[test]
fn known_findings_do_not_fail_and_new_ones_do() {
    need_tools();
    let world = World::new();
    world.write("two.c", &store_buffering_only());
    let written = wmfix(&world, "baseline two.c --runs 20");
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(
        written
            .stderr
            .contains("wrote wmfix-baseline.json: 2 findings"),
        "{written:?}"
    );
    let with = "check two.c --runs 20 --baseline wmfix-baseline.json";
    let known = wmfix(&world, with);
    assert_eq!(known.code, Some(0), "{known:?}");
    assert!(known.stdout.contains("known[V1]: two.c:7"), "{known:?}");
    assert!(known.stdout.contains("(2 known)"), "{known:?}");
    assert!(!known.stdout.contains("[V1]: this read"), "{known:?}");

    // Lines move, and a race is new.
    let moved = TWO_CAUSES.replace("static int data", "/* more */\n\nstatic int data");
    world.write("two.c", &moved);
    let new = wmfix(&world, &format!("{with} --format json"));
    assert_eq!(new.code, Some(1), "{new:?}");
    let report = new.json();
    assert_eq!(report["verdict"], "findings");
    assert_eq!(report["baseline"]["known"], serde_json::json!(["V1", "V2"]));
    assert_eq!(report["baseline"]["file"], "wmfix-baseline.json");
    let log = wmfix(&world, &format!("{with} --format sarif")).json();
    let results = log["runs"][0]["results"].as_array().expect("a list");
    let states: Vec<&str> = results
        .iter()
        .filter_map(|result| result["baselineState"].as_str())
        .collect();
    assert_eq!(states, ["unchanged", "unchanged", "new"]);
    let annotations = wmfix(&world, &format!("{with} --format github")).stdout;
    assert_eq!(annotations.lines().count(), 1, "{annotations}");

    // The last report can be written down without running it again.
    let last = wmfix(&world, "baseline --last --output all.json");
    assert_eq!(last.code, Some(0), "{last:?}");
    let all = wmfix(&world, "check two.c --runs 20 --baseline all.json");
    assert_eq!(all.code, Some(0), "{all:?}");

    // What is repaired does not show up.
    world.write("two.c", &store_buffering_only());
    let gone = wmfix(&world, "check two.c --runs 20 --baseline all.json");
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert!(
        gone.stdout
            .contains("1 finding of all.json did not show up"),
        "{gone:?}"
    );
}

#[test]
fn a_project_can_name_its_baseline_and_a_bad_one_is_told_before_any_run() {
    need_tools();
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    world.write(
        "wmfix.toml",
        "[run]\nruns = 20\nbaseline = \"known.json\"\n",
    );
    let missing = wmfix(&world, "check two.c");
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(
        missing.stderr.contains("`wmfix baseline` writes one"),
        "{missing:?}"
    );
    let written = wmfix(&world, "baseline two.c --output known.json");
    assert_eq!(written.code, Some(0), "{written:?}");
    assert_eq!(wmfix(&world, "check two.c").code, Some(0));
    let text = fs::read_to_string(world.path().join("known.json")).expect("the file");
    world.write(
        "known.json",
        &text.replace("\"version\": 1", "\"version\": 7"),
    );
    let other = wmfix(&world, "check two.c");
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("version 7"), "{other:?}");
}
