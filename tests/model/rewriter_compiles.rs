//! Every golden case compiles with gcc and clang, before and after, in each of
//! its standards, and does the same.

use std::collections::BTreeSet;

use wmfix_tests::rewriter::cases::{self, Case};
use wmfix_tests::rewriter::programs::{COMPILERS, Version, output};
use wmfix_tests::tools::{Need, need};

#[test]
fn every_case_compiles_and_does_the_same() {
    let needs = ["gcc", "g++", "clang", "clang++"].map(Need::Program);
    need(&needs);
    let all: Vec<Case> = cases::files()
        .iter()
        .flat_map(|path| cases::read(path))
        .collect();
    let standards: BTreeSet<&String> = all.iter().flat_map(|case| &case.standards).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let mut jobs = Vec::new();
    for standard in &standards {
        for compilers in COMPILERS {
            jobs.push((standard.as_str(), compilers));
        }
    }
    let failures: Vec<String> = std::thread::scope(|scope| {
        // Two at a time: what a small machine has.
        let lanes: Vec<_> = (0..2)
            .map(|lane| {
                let (all, jobs, folder) = (&all, &jobs, folder.path());
                scope.spawn(move || {
                    let mut failures = Vec::new();
                    for (number, (standard, compilers)) in
                        jobs.iter().enumerate().skip(lane).step_by(2)
                    {
                        let cases: Vec<&Case> = all
                            .iter()
                            .filter(|case| case.standards.iter().any(|known| known == standard))
                            .collect();
                        let run = |version| {
                            let folder = folder.join(format!("{number}_{version:?}"));
                            output(&cases, version, standard, *compilers, &folder)
                        };
                        let (before, after) = (run(Version::Before), run(Version::After));
                        match (before, after) {
                            (Ok(before), Ok(after)) if before == after => {
                                let lines = before.lines().filter(|line| line.contains(": "));
                                assert!(lines.count() >= cases.len());
                            }
                            (before, after) => failures.push(format!(
                                "{standard} {compilers:?}\nbefore: {before:?}\nafter: {after:?}"
                            )),
                        }
                    }
                    failures
                })
            })
            .collect();
        lanes
            .into_iter()
            .flat_map(|lane| lane.join().expect("a lane"))
            .collect()
    });
    assert!(
        failures.is_empty(),
        "{}",
        failures.join("\n\n").replace("\\n", "\n")
    );
}

#[test]
fn every_standard_has_its_cases() {
    let all: Vec<Case> = cases::files()
        .iter()
        .flat_map(|path| cases::read(path))
        .collect();
    for standard in ["c11", "c17", "c++11", "c++17", "c++20"] {
        let count = all
            .iter()
            .filter(|case| case.standards.iter().any(|known| known == standard))
            .count();
        assert!(count >= 50, "{standard} has {count} cases only");
    }
}
