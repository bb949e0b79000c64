//! The repair search on the litmus corpus, against brute force: the repaired
//! program is robust, and no cheaper set of changes makes it so.

use wmfix_analysis::Event;
use wmfix_repair::{
    Change, ChangeKind, ChangePoint, FenceMove, MoveDirection, Options, Orders, Problem, Profile,
    SearchEnd, costs, holds, repair,
};
use wmfix_tests::litmus::{
    Instruction, Profile as Shape, Program, Rng, corpus, program, random, varied, with_plain,
};
use wmfix_tests::repairing::{
    Cheaper, Effort, apply, apply_at, cheaper_repair, is_repaired, is_stronger, points, problem,
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
    /// Weaker changes that were tried instead of those of a repair.
    weakened: usize,
}

impl Tally {
    /// Repairs a program and holds the repair against brute force.
    fn judge(&mut self, program: &Program, problem: &Problem, profile: Profile, effort: Effort) {
        let options = Options {
            profile,
            ..Options::default()
        };
        let outcome = repair(problem, &options, |_| {}).unwrap();
        assert_eq!(outcome.end, SearchEnd::Optimal, "{program}");
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

        for number in 0..changes.len() {
            for weaker in weakened(problem, &changes, number) {
                let weaker = apply(program, &weaker);
                assert!(
                    !is_repaired(&weaker),
                    "{profile:?}: too strong: {repaired}\n{weaker}"
                );
                self.weakened += 1;
            }
        }

        self.repaired += 1;
        self.changes += changes.len();
        let traces = || problem.traces.iter().map(Vec::as_slice);
        let cost = |change| costs(profile, &problem.points, traces(), &[change])[0];
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
    for (number, entry) in entries.iter().filter(|entry| !entry.robust).enumerate() {
        let problem = problem(&entry.program);
        for profile in [Profile::Fewest, Profile::X86] {
            tally.judge(&entry.program, &problem, profile, ALL);
        }
        // Hardly anything is free there: to try all sets takes long.
        if number % 8 == 0 {
            tally.judge(&entry.program, &problem, Profile::Portable, ALL);
        }
    }
    assert_eq!(tally.repaired, 2 * 216 + 27);
    assert!(tally.weakened > 1000, "{tally:?}");
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

/// A repair of every other run of a program should hold in the runs between.
#[test]
fn a_repair_of_half_of_the_runs_mostly_holds_in_the_other_half() {
    let (mut tried, mut held) = (0, 0);
    for entry in corpus().unwrap().iter().filter(|entry| !entry.robust) {
        let whole = problem(&entry.program);
        let half = |rest: usize| -> Vec<Vec<Event>> {
            let numbered = whole.traces.iter().enumerate();
            let mine = numbered.filter(|(number, _)| number % 2 == rest);
            mine.map(|(_, trace)| trace.clone()).collect()
        };
        let seen = Problem {
            traces: half(0),
            ..whole.clone()
        };
        let found = repair(&seen, &Options::default(), |_| {}).unwrap().repair;
        let changes: Vec<Change> = (found.expect("a search that ends has a repair").changes)
            .iter()
            .map(|c| c.change)
            .collect();
        if changes.is_empty() || half(1).is_empty() {
            continue;
        }
        let unseen = Problem {
            traces: half(1),
            ..whole.clone()
        };
        tried += 1;
        held += usize::from(holds(&unseen, &changes).unwrap());
    }
    wmfix_tests::note!("{held} of {tried} repairs of half of the runs hold in the others");
    assert!(tried > 150 && held * 100 >= tried * 80, "{held} of {tried}");
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
    while tried < 20 {
        let program = random(&mut rng, &shape);
        if is_repaired(&program) || points(&program).len() > 4 {
            continue;
        }
        let problem = problem(&program);
        let options = Options {
            profile: Profile::Fewest,
            ..Options::default()
        };
        let outcome = repair(&problem, &options, |_| {}).unwrap();
        let found = outcome.repair.expect("a search that ends has a repair");
        if found.cost > 3 {
            // Too many sets of three and more.
            continue;
        }
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

/// A fence may change places with its neighbour: no repair with one such move, and
/// none without, is cheaper than what is found.
#[test]
fn with_a_fence_that_moves_the_cheapest_is_found() {
    let named: [(&str, [&str; 2]); 5] = [
        ("late", ["x=1.rlx; y=1.rlx; F.rel", "a=y.acq; b=x.rlx"]),
        (
            "late and relaxed",
            ["x=1.rlx; y=1.rlx; F.rel", "a=y.rlx; b=x.rlx"],
        ),
        ("early", ["x=1.rlx; y=1.rel", "F.acq; a=y.rlx; b=x.rlx"]),
        (
            "before",
            ["F.sc; x=1.rlx; a=y.rlx", "y=1.rlx; F.sc; b=x.rlx"],
        ),
        (
            "both before",
            ["F.sc; x=1.rlx; a=y.rlx", "F.sc; y=1.rlx; b=x.rlx"],
        ),
    ];
    let (mut sets, mut moved) = (0, 0);
    for (name, threads) in named {
        let program = &program(name, &threads).unwrap();
        let problem = Problem {
            moves: moves(program),
            ..problem(program)
        };
        // Where much costs little, there are too many sets below a full fence.
        let profiles = match name.contains("before") {
            true => &[Profile::X86][..],
            false => &[Profile::X86, Profile::Portable],
        };
        for &profile in profiles {
            let options = Options {
                profile,
                ..Options::default()
            };
            let outcome = repair(&problem, &options, |_| {}).unwrap();
            let found = outcome.repair.expect("a search that ends has a repair");
            let changes: Vec<Change> = found.changes.iter().map(|c| c.change).collect();
            let repaired = apply(program, &changes);
            assert!(is_repaired(&repaired), "{program}\n{changes:?}");
            assert!(
                found.changes.iter().all(|c| !c.reasons.is_empty()),
                "{program}"
            );
            let is_move = |c: &Change| matches!(c.kind, ChangeKind::Move(_));
            moved += usize::from(changes.iter().any(is_move));
            let ways = problem.moves.iter().map(|m| vec![m.change()]);
            for way in ways.chain([Vec::new()]) {
                for cheaper in cheaper_sets(&problem, profile, found.cost) {
                    let cheaper = [&way[..], &cheaper[..]].concat();
                    let changed = apply(program, &cheaper);
                    assert!(
                        !is_repaired(&changed),
                        "{program}\n{changes:?}\n{cheaper:?}"
                    );
                    sets += 1;
                }
            }
        }
    }
    assert!(sets > 3 && moved == 5, "{sets} {moved}");
}

/// Every fence of a program with each of its neighbours that is an access.
fn moves(program: &Program) -> Vec<FenceMove> {
    let points = points(program);
    let mut moves = Vec::new();
    for (thread, instructions) in program.threads.iter().enumerate() {
        let is_fence = |at: usize| matches!(instructions[at], Instruction::Fence { .. });
        for at in (0..instructions.len()).filter(|&at| is_fence(at)) {
            let fence = program.site(thread, at);
            let point = points.iter().position(|point| point.sites.contains(&fence));
            let above = at.checked_sub(1).map(|beside| (beside, MoveDirection::Up));
            let below = (at + 1 < instructions.len()).then_some((at + 1, MoveDirection::Down));
            for (beside, direction) in above.into_iter().chain(below) {
                if !is_fence(beside) {
                    moves.push(FenceMove {
                        point: point.expect("a fence is a point"),
                        past: vec![program.site(thread, beside)],
                        direction,
                    });
                }
            }
        }
    }
    moves
}

/// Two instructions that are one operation of a function with two calls: what is
/// changed in the function counts for both, a fence at a call for one.
#[test]
fn between_a_function_and_its_calls_the_cheapest_is_found() {
    let mut rng = Rng::new(63);
    let shape = Shape {
        accesses: 2,
        sc_fence: 0,
        weak_fence: 0,
        relaxed: 60,
        rmw: 10,
        ..Shape::PLAIN
    };
    let (mut tried, mut sets, mut at_calls) = (0, 0, 0);
    while tried < 300 {
        let program = random(&mut rng, &shape);
        let Some(points) = grouped(&program, &mut rng).filter(|_| !is_repaired(&program)) else {
            continue;
        };
        let mut problem = Problem {
            points,
            ..problem(&program)
        };
        // The function is hot in one of its calls.
        let hot = problem.points[1].sites[0];
        let alone = |events: &[Event]| -> Vec<Event> {
            let rounds = events.iter().filter(|e| e.site == hot || e.thread.0 == 0);
            rounds.copied().collect()
        };
        let warm = alone(&problem.traces[0]);
        problem.traces.extend(vec![warm; 5]);
        for profile in [Profile::Fewest, Profile::X86, Profile::Arm64] {
            let options = Options {
                profile,
                ..Options::default()
            };
            let outcome = repair(&problem, &options, |_| {}).unwrap();
            let found = outcome.repair.expect("a search that ends has a repair");
            let changes: Vec<Change> = found.changes.iter().map(|c| c.change).collect();
            let repaired = apply_at(&program, &problem.points, &changes);
            assert!(is_repaired(&repaired), "{program}\n{changes:?}");
            let is_call = |c: &&Change| problem.points[c.point].orders == Orders::None;
            at_calls += changes.iter().filter(is_call).count();
            for cheaper in cheaper_sets(&problem, profile, found.cost) {
                let changed = apply_at(&program, &problem.points, &cheaper);
                assert!(
                    !is_repaired(&changed),
                    "{program}\n{changes:?}\n{cheaper:?}"
                );
                sets += 1;
            }
        }
        tried += 1;
    }
    assert!(sets > 1000 && at_calls > 5, "{sets} {at_calls}");
}

/// The points of a program with two alike made one, the function, and after it
/// its two calls.
fn grouped(program: &Program, rng: &mut Rng) -> Option<Vec<ChangePoint>> {
    let mut points = points(program);
    if points.len() > 4 {
        return None;
    }
    let one = rng.below(points.len());
    let other = (one + 1..points.len()).find(|&p| points[p].orders == points[one].orders)?;
    let second = points.remove(other);
    let first = points.remove(one);
    let call = |point: &ChangePoint| ChangePoint::new(point.sites.clone(), Orders::None);
    let function = [first.sites.clone(), second.sites.clone()].concat();
    let mut all = vec![
        ChangePoint::new(function, first.orders),
        call(&first),
        call(&second),
    ];
    all.extend(points);
    Some(all)
}

/// All sets of changes that cost less than this, with everything that is free.
fn cheaper_sets(problem: &Problem, profile: Profile, cost: u64) -> Vec<Vec<Change>> {
    let traces = || problem.traces.iter().map(Vec::as_slice);
    let all: Vec<Change> = (problem.points.iter().enumerate())
        .flat_map(|(point, p)| {
            let kinds = p.kinds().into_iter();
            kinds.map(move |kind| Change { point, kind })
        })
        .collect();
    let prices = costs(profile, &problem.points, traces(), &all);
    let priced = || all.iter().copied().zip(prices.iter().copied());
    let free: Vec<Change> = priced().filter(|p| p.1 == 0).map(|p| p.0).collect();
    let mut sets = vec![(free, 0)];
    for (change, price) in priced().filter(|p| p.1 > 0) {
        let more: Vec<(Vec<Change>, u64)> = sets
            .iter()
            .filter(|(set, sum)| {
                let taken = set
                    .iter()
                    .any(|&other| same_slot(other, change) && price_of(other, &all, &prices) > 0);
                sum + price < cost && !taken
            })
            .map(|(set, sum)| ([&set[..], &[change]].concat(), sum + price))
            .collect();
        sets.extend(more);
    }
    sets.retain(|&(_, sum)| sum < cost);
    sets.into_iter().map(|(set, _)| set).collect()
}

/// What a change costs.
fn price_of(change: Change, all: &[Change], prices: &[u64]) -> u64 {
    let at = all.iter().position(|&c| c == change);
    at.map_or(0, |at| prices[at])
}

/// All sets of changes that cost less than this where each costs 1.
fn sets_below(problem: &Problem, cost: u64) -> Vec<Vec<Change>> {
    let all: Vec<Change> = problem
        .points
        .iter()
        .enumerate()
        .flat_map(|(point, p)| {
            let kinds = p.kinds().into_iter();
            kinds.map(move |kind| Change { point, kind })
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

/// A repair with one of its changes made weaker, in every way.
fn weakened(problem: &Problem, changes: &[Change], number: usize) -> Vec<Vec<Change>> {
    let change = changes[number];
    let kinds = problem.points[change.point].kinds().into_iter();
    let weaker = kinds.filter(|&kind| kind != change.kind && is_stronger(change.kind, kind));
    let with = |kind| {
        let mut changes = changes.to_vec();
        changes[number].kind = kind;
        changes
    };
    weaker.map(with).collect()
}

/// Whether two changes set the same thing.
fn same_slot(one: Change, other: Change) -> bool {
    let slot = |kind: ChangeKind| match kind {
        ChangeKind::FenceBefore(_) => 0,
        ChangeKind::FenceAfter(_) => 2,
        _ => 1,
    };
    one.point == other.point && slot(one.kind) == slot(other.kind)
}
