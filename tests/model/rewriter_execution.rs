//! A fence that was put before or after an operation is there when the program
//! runs: right before, or right after, each time that the operation is executed.

use wmfix_tests::rewriter::cases::{self, Case};
use wmfix_tests::rewriter::execution::{FULL_FENCE, event_of, events};
use wmfix_tests::rewriter::programs::Version;
use wmfix_tests::tools::{Need, need};

#[test]
fn the_fence_stands_next_to_the_operation_whenever_it_runs() {
    let needs = ["gcc", "g++", "clang", "clang++"].map(Need::Program);
    need(&needs);
    let all: Vec<Case> = cases::files()
        .iter()
        .flat_map(|path| cases::read(path))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let mut failures = Vec::new();
    let mut checked = 0;
    for (compiler, standard) in [
        ("gcc", "c17"),
        ("clang", "c17"),
        ("g++", "c++20"),
        ("clang++", "c++20"),
    ] {
        let chosen: Vec<&Case> = all
            .iter()
            .filter(|case| case.standards.iter().any(|known| known == standard))
            .filter(|case| event_of(case).is_some())
            .collect();
        let run = |version| {
            let folder = folder.path().join(format!("{compiler}_{version:?}"));
            events(&chosen, version, compiler, standard, &folder).expect("it compiles and runs")
        };
        let (before, after) = (run(Version::Before), run(Version::After));
        // A global's initialiser runs before anything is written down.
        let ran = |case: &&&Case| before.contains_key(&case.name);
        for case in chosen.iter().filter(ran) {
            let (is_before, event) = event_of(case).expect("just chosen");
            let there = |events: &[String]| {
                let at: Vec<usize> = (0..events.len())
                    .filter(|&at| events[at] == event)
                    .collect();
                let fenced = |&at: &usize| {
                    let near = if is_before {
                        at.checked_sub(1)
                    } else {
                        Some(at + 1)
                    };
                    near.and_then(|near| events.get(near))
                        .is_some_and(|near| near == FULL_FENCE)
                };
                (at.len(), at.iter().filter(|at| fenced(at)).count())
            };
            let (ran, fenced) = there(&after[&case.name]);
            if ran == 0 || fenced != ran {
                failures.push(format!(
                    "{} ({compiler}): {fenced} of {ran}\n{:?}",
                    case.name, after[&case.name]
                ));
            }
            let (ran_before, fenced_before) = there(&before[&case.name]);
            assert_eq!(
                (ran_before, fenced_before),
                (ran, 0),
                "{}: not even without the change",
                case.name
            );
            checked += 1;
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {checked}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(checked >= 200, "only {checked} executions");
}
