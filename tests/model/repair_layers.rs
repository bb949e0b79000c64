//! Repairs in layers: what is changed for findings that matter does not depend on what
//! is changed for the others.

use wmfix_analysis::{LoadOrder, StoreOrder, ViolationKind};
use wmfix_repair::{
    AllowedFindings, Change, ChangeKind, Options, Outcome, Problem, Profile, SearchEnd, holds,
    repair_in_layers,
};
use wmfix_tests::litmus::program;
use wmfix_tests::repairing::problem;

const RELEASE: ChangeKind = ChangeKind::Store(StoreOrder::Release);
const ACQUIRE: ChangeKind = ChangeKind::Load(LoadOrder::Acquire);

/// A message that a flag publishes; between the two, the sender looks at `y`, as in
/// store buffering with the third thread. A full fence there does for the release of the
/// flag.
fn message_and_buffering() -> Problem {
    let threads = [
        "d=1.rlx; a=y.rlx; x=1.rlx",
        "b=x.rlx; c=d.rlx",
        "y=1.rlx; e=d.rlx",
    ];
    problem(&program("message", &threads).expect("the notation is right"))
}

/// Allows what is stale at these points.
fn allowing(problem: &Problem, points: &[usize]) -> AllowedFindings {
    let mut allowed = AllowedFindings::default();
    for &point in points {
        for &site in &problem.points[point].sites {
            for kind in [ViolationKind::StaleRead, ViolationKind::StaleWrite] {
                allowed.allow_violation(site, kind);
            }
        }
    }
    allowed
}

fn searched(problem: &Problem, first: &[AllowedFindings]) -> Outcome {
    let options = Options {
        profile: Profile::Portable,
        ..Options::default()
    };
    let outcome = repair_in_layers(problem, first, &options, |_| {}).unwrap();
    assert_eq!(outcome.end, SearchEnd::Optimal);
    outcome
}

/// A change: its point, its kind, its layer, whether it is covered.
type Found = (usize, ChangeKind, usize, bool);

fn changes(outcome: &Outcome) -> Vec<Found> {
    let found = outcome.repair.as_ref().expect("a repair");
    let all = found.changes.iter();
    all.map(|c| (c.change.point, c.change.kind, c.layer, c.is_covered))
        .collect()
}

#[test]
fn what_matters_is_repaired_as_if_the_rest_were_not_there() {
    let problem = message_and_buffering();
    // The message alone counts first: store buffering shows at points 1 and 6.
    let first = allowing(&problem, &[1, 6]);
    let found: Vec<Found> = changes(&searched(&problem, std::slice::from_ref(&first)));
    let of_layer = |layer| found.iter().filter(move |change| change.2 == layer);
    let (serious, rest): (Vec<&Found>, Vec<&Found>) =
        (of_layer(0).collect(), of_layer(1).collect());
    // The release is covered by the fence that comes later.
    assert_eq!(serious, [&(2, RELEASE, 0, true), &(3, ACQUIRE, 0, false)]);
    assert!(
        !rest.is_empty() && rest.iter().all(|change| !change.3),
        "{found:?}"
    );

    // On its own the first layer is enough, and needed, for what it is there for.
    let mut serious_only = problem.clone();
    serious_only.allowed = first;
    let alone = |kept: &[usize]| {
        let changes: Vec<Change> = kept
            .iter()
            .map(|&number| Change {
                point: serious[number].0,
                kind: serious[number].1,
            })
            .collect();
        holds(&serious_only, &changes).unwrap()
    };
    assert!(alone(&[0, 1]));
    assert!(!alone(&[0]) && !alone(&[1]));
}

#[test]
fn layers_before_the_last_have_no_idle_change() {
    let problem = message_and_buffering();
    let first = [allowing(&problem, &[1, 6]), allowing(&problem, &[])];
    let found = changes(&searched(&problem, &first));
    assert!(found.iter().all(|change| !change.3), "{found:?}");
    assert!(
        found.iter().all(|change| change.1 != RELEASE),
        "a fence does for it: {found:?}"
    );
}
