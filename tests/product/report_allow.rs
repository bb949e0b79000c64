//! Findings that somebody has judged to be all right: a comment or an entry of
//! wmfix.toml, and what becomes of them in reports, repairs and exit codes.

use crate::report_support::{PETERSON, STORE_BUFFERING, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::World;

const LOAD: &str = "atomic_load_explicit(&x";

/// The line of a text that holds some words.
fn line_of(text: &str, words: &str) -> usize {
    let line = text.lines().position(|line| line.contains(words));
    line.expect("the words are in the text") + 1
}

fn ids(report: &Value, list: &str) -> Vec<String> {
    let findings = report[list].as_array().expect("a list").iter();
    findings
        .map(|finding| finding["id"].as_str().expect("a name").to_owned())
        .collect()
}

/// Store buffering with a comment behind the line of one of its loads.
fn with_comment(comment: &str) -> String {
    let line = STORE_BUFFERING.lines().find(|line| line.contains(LOAD));
    let line = line.expect("the load");
    STORE_BUFFERING.replace(line, &format!("{line} {comment}"))
}

#[test]
fn a_comment_takes_a_finding_out_of_the_count_and_lists_it() {
    need_tools();
    let world = World::new();
    let text = with_comment("// wmfix: allow(the reader asks again (later))");
    world.write("sb.c", &text);
    let report = wmfix(&world, "check sb.c --runs 20 --format json").json();
    assert_eq!(report["verdict"], "findings");
    assert_eq!(ids(&report, "violations"), ["V1"]);
    assert_eq!(ids(&report, "allowed"), ["V2"]);
    let allowed = &report["allowed"][0];
    assert_eq!(allowed["reason"], "the reader asks again (later)");
    assert_eq!(allowed["by"]["line"], line_of(&text, "wmfix: allow"));
    assert_eq!(allowed["violation"]["location"], "x");

    // The line above, and nothing else is found: that is a clean program.
    let both = text.replace(
        "atomic_load_explicit(&y",
        "/* wmfix: allow(so does this one) */\n        atomic_load_explicit(&y",
    );
    world.write("sb.c", &both);
    let checked = wmfix(&world, "check sb.c --runs 20");
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(
        checked.stdout.contains("nothing found (2 allowed)"),
        "{checked:?}"
    );
    assert!(
        checked.stdout.contains("reason: so does this one"),
        "{checked:?}"
    );
    let suggested = wmfix(&world, "suggest sb.c --runs 20");
    assert_eq!((suggested.code, suggested.stdout.as_str()), (Some(0), ""));
    let explained = wmfix(&world, "explain V2");
    assert!(
        explained.stdout.contains("It is allowed by sb.c:"),
        "{explained:?}"
    );
}

#[test]
fn an_allow_that_does_nothing_is_told() {
    need_tools();
    let world = World::new();
    world.write("sb.c", &with_comment("// wmfix: allow()"));
    world.write(
        "wmfix.toml",
        "[[allow]]\nfile = \"other/*.c\"\nreason = \"not here\"\n",
    );
    let report = wmfix(&world, "check sb.c --runs 20 --format json").json();
    assert_eq!(ids(&report, "violations"), ["V1", "V2"]);
    assert_eq!(ids(&report, "allowed"), [""; 0]);
    let notes = report["notes"].to_string();
    assert!(notes.contains("this allow has no reason"), "{notes}");
    let unused = "wmfix.toml:1: this allow matches no finding (not here)";
    assert!(notes.contains(unused), "{notes}");
}

#[test]
fn an_entry_of_the_configuration_says_which_findings_it_means() {
    need_tools();
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    let allowed = |entry: &str| {
        world.write(
            "wmfix.toml",
            &format!("[[allow]]\n{entry}\nreason = \"so\"\n"),
        );
        let report = wmfix(&world, "check sb.c --runs 20 --format json").json();
        ids(&report, "allowed").len()
    };
    assert_eq!(allowed("file = \"*.c\""), 2);
    assert_eq!(allowed("file = \"*.c\"\nfunction = \"left\""), 1);
    assert_eq!(allowed("file = \"*.c\"\noperation = \"&x\""), 1);
    assert_eq!(allowed("file = \"*.c\"\nkind = \"stale-read\""), 2);
    assert_eq!(allowed("file = \"*.c\"\nkind = \"race\""), 0);
    assert_eq!(allowed("file = \"*.h\""), 0);
}

#[test]
fn what_is_allowed_is_not_repaired() {
    need_tools();
    let world = World::new();
    let text = PETERSON.replace("counter++;", "counter++; // wmfix: allow(a statistic)");
    assert_ne!(text, PETERSON);
    world.write("peterson.c", &text);
    let report = wmfix(
        &world,
        "suggest peterson.c --robust --runs 30 --format json",
    )
    .json();
    assert!(report["races"].as_array().expect("a list").is_empty());
    assert!(!ids(&report, "allowed").is_empty());
    let patch = report["repair"]["patch"].as_str().expect("a patch");
    // The hand-over is only needed for the race.
    assert!(
        !patch.contains("+    atomic_store_explicit(&flag[me], 0"),
        "{patch}"
    );
    assert_eq!(
        report["repair"]["verification"]["outcome"], "held",
        "{report}"
    );
}
