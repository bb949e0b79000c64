//! The search for weaker orders on the litmus corpus, against brute force: with what
//! it finds the program is robust and free of races, and no cheaper orders are enough.
//! A part of the corpus; `WMFIX_LITMUS=all` takes all of it.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use wmfix_repair::{
    Change, ChangeKind, ChangePoint, Options, Problem, Profile, SearchEnd, costs, relax, repair,
};
use wmfix_tests::litmus::{Entry, Program, Rng, corpus, program, varied, with_plain};
use wmfix_tests::repairing::{
    Cheaper, Effort, all_sc, apply, cheaper_orders, is_repaired, points, problem,
};

const PROFILES: [Profile; 3] = [Profile::X86, Profile::Arm64, Profile::Portable];
const ALL: Effort = Effort {
    programs: usize::MAX,
};
const SOME: Effort = Effort { programs: 3_000 };

#[derive(Debug, Default)]
struct Tally {
    relaxed: usize,
    changes: usize,
    proved: usize,
}

impl Tally {
    /// Relaxes a program and holds the result against brute force.
    fn judge(&mut self, program: &Program, profile: Profile, effort: Effort) -> Program {
        let problem = problem(program);
        let options = Options {
            profile,
            ..Options::default()
        };
        let found = relax(&problem, &options, |_| {}).unwrap();
        assert_eq!(found.end, SearchEnd::Optimal, "{program}");
        let relaxed = apply(program, &found.changes);
        assert!(is_repaired(&relaxed), "{profile:?}: {program}\n{relaxed}");
        assert!(found.cost <= found.cost_before, "{program}");
        assert_eq!(found.cost, found.lower_bound, "{program}");
        let weak = weakest(&problem.points);
        let traces = || problem.traces.iter().map(Vec::as_slice);
        let cost = |change| costs(profile, &weak, traces(), &[change])[0];
        let is_weakest = |c: &Change| weak[c.point].orders.as_change() == Some(c.kind);
        let orders = points(program).into_iter().enumerate().map(|(point, had)| {
            let mine = found.changes.iter().find(|change| change.point == point);
            let kind = mine.map(|change| change.kind).or(had.orders.as_change());
            Change {
                point,
                kind: kind.expect("every point has an order"),
            }
        });
        let orders = orders.filter(|change| !is_weakest(change));
        assert_eq!(found.cost, orders.map(cost).sum::<u64>(), "{program}");
        self.relaxed += 1;
        self.changes += found.changes.len();
        match found.cost.checked_sub(1) {
            None => self.proved += 1,
            Some(budget) => match cheaper_orders(program, &cost, budget, effort) {
                Cheaper::None => self.proved += 1,
                Cheaper::TooMany => {}
                Cheaper::Exists(cheaper) => {
                    let cheaper = apply(program, &cheaper);
                    panic!("{profile:?}: {program}\nfound {relaxed}\ncheaper {cheaper}")
                }
            },
        }
        relaxed
    }
}

fn weakest(points: &[ChangePoint]) -> Vec<ChangePoint> {
    let weak = points
        .iter()
        .map(|point| ChangePoint::new(point.sites.clone(), point.orders.weakest()));
    weak.collect()
}

/// The programs of the corpus that the tests take.
fn part(step: usize) -> Vec<Entry> {
    let all = std::env::var("WMFIX_LITMUS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { step };
    corpus().unwrap().into_iter().step_by(step).collect()
}

#[test]
fn the_corpus_written_with_seq_cst_gets_the_cheapest_orders() {
    let mut tally = Tally::default();
    let mut raced = 0;
    for entry in part(5) {
        let strong = all_sc(&entry.program);
        if !is_repaired(&strong) {
            // A race on plain data: `relax` is for programs that show nothing.
            raced += 1;
            continue;
        }
        for profile in PROFILES {
            tally.judge(&strong, profile, ALL);
        }
    }
    assert!(
        tally.relaxed > 150 && tally.changes > 500,
        "{tally:?}, {raced} raced"
    );
    assert_eq!(tally.proved, tally.relaxed, "{tally:?}");
}

#[test]
fn a_repair_that_is_relaxed_then_has_the_cheapest_orders() {
    let mut tally = Tally::default();
    for entry in part(8) {
        let program = &entry.program;
        if is_repaired(program) || !is_repaired(&all_sc(program)) {
            continue;
        }
        for profile in PROFILES {
            let options = Options {
                profile,
                ..Options::default()
            };
            let outcome = repair(&problem(program), &options, |_| {}).unwrap();
            let changes = outcome.repair.expect("it can be repaired").changes;
            let changes: Vec<Change> = changes.iter().map(|c| c.change).collect();
            tally.judge(&apply(program, &changes), profile, ALL);
        }
    }
    assert!(tally.relaxed > 60, "{tally:?}");
    assert_eq!(tally.proved, tally.relaxed, "{tally:?}");
}

#[test]
fn random_programs_written_with_seq_cst_get_the_cheapest_orders() {
    let mut rng = Rng::new(77);
    let mut tally = Tally::default();
    for (make, count) in [(with_plain as fn(&mut Rng) -> Program, 10), (varied, 20)] {
        let enough = tally.relaxed + count;
        while tally.relaxed < enough {
            let strong = all_sc(&make(&mut rng));
            if !is_repaired(&strong) || problem(&strong).traces.len() > 200 {
                continue;
            }
            tally.judge(&strong, PROFILES[tally.relaxed % 3], SOME);
        }
    }
    assert!(tally.proved >= 20, "{tally:?}");
}

/// What a program becomes, as text.
fn relaxed(threads: &[&str], profile: Profile) -> String {
    let program = program("p", threads).unwrap();
    Tally::default().judge(&program, profile, ALL).to_string()
}

#[test]
fn message_passing_needs_release_and_acquire() {
    let mp = ["write d 1; x=1.sc", "wait(x==1).sc; read d"];
    let expected = "p:\n  T1: write d 1; x=1.rel\n  T2: wait(x==1).acq; read d\n";
    for profile in PROFILES {
        assert_eq!(relaxed(&mp, profile), expected);
    }
}

#[test]
fn a_fence_that_nothing_needs_goes_and_the_one_that_is_needed_stays() {
    let sb = ["x=1.sc; F.sc; F.sc; a=y.sc", "y=1.sc; F.sc; b=x.sc; F.sc"];
    // On x86 a fence costs what a seq_cst store costs, and one of each is enough.
    let text = relaxed(&sb, Profile::X86);
    assert_eq!(
        text.matches("F.").count() + text.matches("=1.sc").count(),
        2,
        "{text}"
    );
    // An ordered access is cheaper than a barrier on arm64.
    let text = relaxed(&sb, Profile::Arm64);
    assert!(!text.contains("F."), "{text}");
}

#[test]
fn a_counter_that_publishes_nothing_is_relaxed() {
    let threads = ["a=fadd(x,1).sc", "b=fadd(x,1).sc"];
    let expected = "p:\n  T1: a=fadd(x,1).rlx\n  T2: b=fadd(x,1).rlx\n";
    assert_eq!(relaxed(&threads, Profile::Portable), expected);
}

/// What a run shows with the orders of now may stay, but nothing may come to it.
#[test]
fn what_is_stale_already_may_stay_and_nothing_may_come_to_it() {
    let sb = program("SB", &["x=1.rlx; a=y.rlx", "y=1.rlx; b=x.rlx"]).unwrap();
    let found = relax(&problem(&sb), &Options::default(), |_| {}).unwrap();
    assert!(found.changes.is_empty());
    let threads = [
        "write d 1; z=1.sc; x=1.rlx; a=y.rlx",
        "y=1.rlx; b=x.rlx; wait(z==1).sc; read d",
    ];
    let both = program("both", &threads).unwrap();
    let found = relax(&problem(&both), &Options::default(), |_| {}).unwrap();
    let expected = [
        (0, ChangeKind::Store(StoreOrder::Release)),
        (5, ChangeKind::Load(LoadOrder::Acquire)),
    ];
    let changes: Vec<_> = found.changes.iter().map(|c| (c.point, c.kind)).collect();
    assert_eq!(changes, expected);
}

#[test]
fn what_a_point_refuses_is_not_chosen() {
    let program = program("p", &["a=fadd(x,1).sc; F.sc", "b=fadd(x,1).sc"]).unwrap();
    let mut refusing: Problem = problem(&program);
    refusing.points[0].refuse(ChangeKind::Rmw(RmwOrder::Relaxed), "no");
    refusing.points[0].refuse(ChangeKind::Rmw(RmwOrder::Acquire), "no");
    refusing.points[1].refuse(ChangeKind::RemoveFence, "no");
    refusing.points[1].refuse(ChangeKind::Fence(FenceOrder::Acquire), "no");
    refusing.points[2].refuse(ChangeKind::Rmw(RmwOrder::Relaxed), "no");
    refusing.points[2].refuse(ChangeKind::Rmw(RmwOrder::AcqRel), "no");
    let found = relax(&refusing, &Options::default(), |_| {}).unwrap();
    let changes: Vec<_> = found.changes.iter().map(|c| (c.point, c.kind)).collect();
    let expected = [
        (0, ChangeKind::Rmw(RmwOrder::Release)),
        (1, ChangeKind::Fence(FenceOrder::Release)),
    ];
    // Of the third neither acquire nor release is below the other, and none is left.
    assert_eq!(changes, expected);
    assert!(
        found
            .savings
            .iter()
            .all(|saving| saving.after <= saving.before)
    );
}
