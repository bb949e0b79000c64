//! What a stale value does in the cases of known bugs: the bug is harmful or a
//! race, its fixed version is neither. A few cases; `WMFIX_CASES=all`, or names with
//! commas between, for others.

use std::collections::BTreeMap;

use serde_json::Value;
use wmfix_tests::cases::Case;
use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// Found in a few runs, quickly.
const FEW: [&str; 4] = [
    "relaxed_pointer_publication",
    "clh_acquire_only",
    "peterson_release_acquire",
    "deque_take_without_fence",
];

#[test]
fn a_known_bug_does_harm_and_its_fix_does_not() {
    need(&["gcc", "g++", "git", "make", "cmake"].map(Need::Program));
    let asked = std::env::var("WMFIX_CASES");
    let (cases, runs) = match asked.as_deref() {
        Err(_) => (FEW.map(Case::named).to_vec(), "100"),
        Ok("all") => (Case::all(), "300"),
        Ok(names) => (names.split(',').map(Case::named).collect(), "300"),
    };
    let mut wrong = Vec::new();
    for case in &cases {
        let (buggy, fixed) = (World::new(), World::new());
        case.write_buggy(buggy.path());
        case.write_fixed(fixed.path());
        let (buggy, fixed) = (summary(&buggy, runs), summary(&fixed, runs));
        println!("| {} | {} | {} |", case.name, words(&buggy), words(&fixed));
        let is_harmful = |counts: &BTreeMap<String, usize>| counts.contains_key("harmful");
        if !is_harmful(&buggy) && !buggy.contains_key("race") {
            wrong.push(format!("{}: the bug does no harm: {buggy:?}", case.name));
        }
        if is_harmful(&fixed) {
            wrong.push(format!("{}: the fix does harm: {fixed:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How many findings have each verdict; races count as `race`.
fn summary(world: &World, runs: &str) -> BTreeMap<String, usize> {
    let mut wmfix = world.wmfix("gcc");
    wmfix
        .env("WMFIX_REAL_CXX", "g++")
        .args(["check", ".", "--format", "json", "--runs", runs]);
    let report = CommandResult::of(&mut wmfix).json();
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let mut counts = BTreeMap::new();
    let verdict = |violation: Value| {
        let verdict = violation["harm"]["verdict"].as_str();
        verdict.unwrap_or("not-tried").to_owned()
    };
    let verdicts = list("violations").into_iter().map(verdict);
    for word in verdicts.chain(list("races").iter().map(|_| "race".to_owned())) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn words(counts: &BTreeMap<String, usize>) -> String {
    let words: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    match words.is_empty() {
        true => "nothing".to_owned(),
        false => words.join(", "),
    }
}
