//! The repair search on the litmus corpus, against brute force: the repaired
//! program is robust, and no cheaper set of changes makes it so.

use wmfix::repair::{Change, Ended, Options, Problem, Profile, costs, repair};
use wmfix_tests::litmus::{Profile as Shape, Program, Rng, corpus, random, varied, with_plain};
use wmfix_tests::repairing::{
    Cheaper, Effort, apply, cheaper_repair, is_repaired, places, problem,
};

/// Of the corpus nothing is left out; a random program may be too large for the
/// trial of all sets.
const ALL: Effort = Effort {
    programs: usize::MAX,
};
const SOME: Effort = Effort { programs: 1_500 };

#[derive(Debug, Default)]
struct Tally {
    repaired: usize,
    proved: usize,
    changes: usize,
}

impl Tally {
    /// Repairs a program and holds the repair against brute force.
    fn judge(&mut self, program: &Program, problem: &Problem, profile: Profile, effort: Effort) {
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
            tally.judge(&entry.program, &problem, profile, ALL);
        }
    }
    assert_eq!(tally.repaired, 2 * 216);
    assert_eq!(tally.proved, tally.repaired, "{tally:?}");
}

#[test]
fn random_programs_with_plain_data_are_repaired_as_cheaply_as_can_be() {
    let mut rng = Rng::new(61);
    let mut tally = Tally::default();
    for (make, count) in [(with_plain as fn(&mut Rng) -> Program, 8), (varied, 25)] {
        let enough = tally.repaired + 2 * count;
        while tally.repaired < enough {
            let program = make(&mut rng);
            if is_repaired(&program) {
                continue;
            }
            let problem = problem(&program);
            // Races that nothing can order are another test's.
            let outcome = repair(&problem, &Options::default(), |_| {}).unwrap();
            if problem.traces.len() > 300 || !outcome.beyond_repair.is_empty() {
                continue;
            }
            for profile in [Profile::Fewest, Profile::X86] {
                tally.judge(&program, &problem, profile, SOME);
            }
        }
    }
    assert!(tally.proved >= 55, "{tally:?}");
}

/// No argument about stronger and weaker: every set of changes is tried.
#[test]
fn in_tiny_programs_every_set_of_changes_is_tried() {
    let mut rng = Rng::new(62);
    let shape = Shape {
        accesses: 2,
        sc_fence: 0,
        weak_fence: 10,
        relaxed: 70,
        rmw: 10,
        ..Shape::PLAIN
    };
    let (mut tried, mut sets) = (0, 0);
    while tried < 40 {
        let program = random(&mut rng, &shape);
        if is_repaired(&program) || places(&program).len() > 4 {
            continue;
        }
        let problem = problem(&program);
        let outcome = repair(&problem, &Options::default(), |_| {}).unwrap();
        let found = outcome.repair.expect("a search that ends has a repair");
        let below = sets_below(&problem, found.cost);
        for changes in &below {
            let changed = apply(&program, changes);
            assert!(!is_repaired(&changed), "{program}\n{changes:?}");
        }
        sets += below.len();
        tried += 1;
    }
    assert!(sets > 300, "{sets}");
}

/// All sets of changes that cost less than this where each costs 1.
fn sets_below(problem: &Problem, cost: u64) -> Vec<Vec<Change>> {
    let all: Vec<Change> = problem
        .places
        .iter()
        .enumerate()
        .flat_map(|(place, p)| {
            let actions = p.actions().into_iter();
            actions.map(move |action| Change { place, action })
        })
        .collect();
    let mut sets = vec![Vec::new()];
    for (number, &change) in all.iter().enumerate() {
        let mut more: Vec<Vec<Change>> = sets
            .iter()
            .filter(|set: &&Vec<Change>| (set.len() as u64) + 1 < cost)
            .filter(|set| !set.iter().any(|&other| same_slot(other, change)))
            .map(|set| [&set[..], &all[number..=number]].concat())
            .collect();
        sets.append(&mut more);
    }
    sets
}

/// Whether two changes set the same thing.
fn same_slot(one: Change, other: Change) -> bool {
    one.place == other.place && !one.action.is_new_fence() && !other.action.is_new_fence()
}
