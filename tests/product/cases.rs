//! The cases of known bugs as wmfix finds and repairs them. A few of them by
//! default; `WMFIX_CASES=all`, or names with commas between, for others, and the
//! table of docs/case-studies.md is printed for whichever they are.

use wmfix_tests::cases::{Case, Limits, PatchVerdict, RightLine, Study, markdown};
use wmfix_tests::tools::{Need, need};

/// Found in a few runs: a publication, a failure order, three locks.
const FEW: [&str; 5] = [
    "relaxed_pointer_publication",
    "cas_failure_order",
    "clh_acquire_only",
    "mcs_rare_path",
    "rwlock_relaxed_unlock",
];

/// Enough for the few.
const SHORT: Limits = Limits {
    runs: 50,
    seconds: 120,
    seed: 1,
};

/// For the table.
const LONG: Limits = Limits {
    runs: 300,
    seconds: 120,
    seed: 1,
};

#[test]
fn known_bugs_are_found_and_repaired() {
    need(&[
        Need::Program("gcc"),
        Need::Program("g++"),
        Need::Program("gcov"),
        Need::Program("git"),
        Need::Program("taskset"),
        Need::Program("make"),
        Need::Program("cmake"),
    ]);
    match std::env::var("WMFIX_CASES").as_deref() {
        Err(_) => {
            let studies = study(FEW.map(Case::named).to_vec(), &SHORT);
            for study in &studies {
                assert_maintainers_would_take_it(study);
            }
        }
        Ok("all") => println!("{}", markdown(&study(Case::all(), &LONG))),
        Ok(names) => {
            let cases = names.split(',').map(Case::named).collect();
            println!("{}", markdown(&study(cases, &LONG)));
        }
    }
}

fn study(cases: Vec<Case>, limits: &Limits) -> Vec<Study> {
    let studies = cases.into_iter().map(|case| {
        let study = Study::of(&case, limits);
        eprintln!("{}: {:.0} s", case.name, study.seconds);
        study
    });
    studies.collect()
}

fn assert_maintainers_would_take_it(study: &Study) {
    let name = &study.case.name;
    assert!(study.failures.is_empty(), "{name}: {:?}", study.failures);
    assert!(study.found_after.is_some(), "{name}: {study:?}");
    assert_ne!(study.right_line, RightLine::Nothing, "{name}: {study:?}");
    let verdicts = [
        PatchVerdict::Equal,
        PatchVerdict::SamePrice,
        PatchVerdict::Cheaper,
    ];
    assert!(verdicts.contains(&study.patch), "{name}: {study:?}");
    assert_eq!(
        study.verification.as_deref(),
        Some("held"),
        "{name}: {study:?}"
    );
}
