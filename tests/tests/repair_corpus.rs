//! The repair search on the litmus corpus, against brute force: the repaired
//! program is robust, and no cheaper set of changes makes it so.

use wmfix::repair::{Change, Ended, Options, Problem, Profile, costs, repair};
use wmfix_tests::litmus::{Program, corpus};
use wmfix_tests::repairing::{Cheaper, Effort, apply, cheaper_repair, is_repaired, problem};

/// Judging more programs than this by brute force is left to a longer run.
const EFFORT: Effort = Effort { programs: 1_500 };

/// With `WMFIX_REPAIR_ALL` set, no program is too large for the trial of sets.
fn everything() -> bool {
    std::env::var_os("WMFIX_REPAIR_ALL").is_some()
}

#[derive(Debug, Default)]
struct Tally {
    repaired: usize,
    proved: usize,
    changes: usize,
}

impl Tally {
    /// Repairs a program and holds the repair against brute force.
    fn judge(&mut self, program: &Program, problem: &Problem, profile: Profile) {
        let options = Options {
            profile,
            ..Options::default()
        };
        let outcome = repair(problem, &options, |_| {}).unwrap();
        assert_eq!(outcome.ended, Ended::Optimal, "{program}");
        assert!(outcome.unrepairable.is_empty(), "{program}");
        assert!(outcome.beyond_repair.is_empty(), "{program}");
        let found = outcome.repair.expect("a search that ends has a repair");
        assert_eq!(outcome.lower_bound, found.cost, "{program}");
        let changes: Vec<Change> = found.changes.iter().map(|c| c.change).collect();
        let repaired = apply(program, &changes);
        assert!(is_repaired(&repaired), "{profile:?}: {program}\n{repaired}");

        for left_out in &found.changes {
            let others: Vec<Change> = changes
                .iter()
                .copied()
                .filter(|&c| c != left_out.change)
                .collect();
            assert!(!left_out.reasons.is_empty(), "{profile:?}: {program}");
            let weaker = apply(program, &others);
            assert!(!is_repaired(&weaker), "not needed: {weaker}");
        }

        self.repaired += 1;
        self.changes += changes.len();
        let traces = || problem.traces.iter().map(Vec::as_slice);
        let cost = |change| costs(profile, &problem.places, traces(), &[change])[0];
        let together: u64 = changes.iter().map(|&c| cost(c)).sum();
        assert_eq!(together, found.cost, "{program}");
        let Some(budget) = found.cost.checked_sub(1) else {
            self.proved += 1;
            return;
        };
        let effort = if everything() {
            Effort {
                programs: usize::MAX,
            }
        } else {
            EFFORT
        };
        match cheaper_repair(program, &cost, budget, effort) {
            Cheaper::None => self.proved += 1,
            Cheaper::TooMany => {}
            Cheaper::Exists(cheaper) => {
                panic!("{profile:?}: {program}\n{changes:?}\ncheaper: {cheaper:?}")
            }
        }
    }
}

#[test]
fn the_corpus_is_repaired_and_no_cheaper_repair_exists() {
    let mut tally = Tally::default();
    let entries = corpus().unwrap();
    for entry in entries.iter().filter(|entry| !entry.robust) {
        let problem = problem(&entry.program);
        for profile in [Profile::Fewest, Profile::X86] {
            tally.judge(&entry.program, &problem, profile);
        }
    }
    assert_eq!(tally.repaired, 2 * 216);
    let all = if everything() { tally.repaired } else { 410 };
    assert!(tally.proved >= all, "{tally:?}");
    println!("{tally:?}");
}
