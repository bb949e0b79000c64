//! Repairs in layers: what is enough for the findings that matter stays as it is where
//! the others need more, and nothing is said twice where they share a part.

use wmfix_analysis::{LoadOrder, StoreOrder, ViolationKind};
use wmfix_repair::{
    AllowedFindings, Change, ChangeKind, Options, Outcome, Problem, Profile, SearchEnd, holds,
    repair_in_layers,
};
use wmfix_tests::litmus::program;
use wmfix_tests::repairing::problem;

const RELEASE: ChangeKind = ChangeKind::Store(StoreOrder::Release);
const ACQUIRE: ChangeKind = ChangeKind::Load(LoadOrder::Acquire);

/// A message that a flag publishes, which is read like this; between the two, the sender
/// looks at `y`, as in store buffering with the third thread. A full fence there does for
/// the release of the flag.
fn message_and_buffering(receiver: &str) -> Problem {
    let threads = ["d=1.rlx; a=y.rlx; x=1.rlx", receiver, "y=1.rlx; e=d.rlx"];
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

/// The store buffering of these programs shows at these points.
const BUFFERING: [usize; 2] = [1, 6];

#[test]
fn what_is_enough_for_what_matters_stays_where_the_rest_makes_it_idle() {
    let problem = message_and_buffering("b=x.acq; c=d.rlx");
    let first = allowing(&problem, &BUFFERING);
    let found = changes(&searched(&problem, std::slice::from_ref(&first)));
    let (serious, rest): (Vec<&Found>, Vec<&Found>) = found.iter().partition(|c| c.2 == 0);
    // The fence that comes later would do for it.
    assert_eq!(serious, [&(2, RELEASE, 0, true)]);
    assert!(
        !rest.is_empty() && rest.iter().all(|change| !change.3),
        "{found:?}"
    );
    // On its own it is enough, and needed, for what it is there for.
    let mut serious_only = problem.clone();
    serious_only.allowed = first;
    let release = Change {
        point: 2,
        kind: RELEASE,
    };
    assert!(holds(&serious_only, &[release]).unwrap());
    assert!(!holds(&serious_only, &[]).unwrap());
}

#[test]
fn what_the_rest_makes_idle_in_part_is_repaired_with_it() {
    let problem = message_and_buffering("b=x.rlx; c=d.rlx");
    let first = allowing(&problem, &BUFFERING);
    let found = changes(&searched(&problem, &[first]));
    assert!(found.iter().all(|change| !change.3), "{found:?}");
    assert!(
        found.iter().all(|change| change.1 != RELEASE),
        "a fence does for it: {found:?}"
    );
    assert!(found.contains(&(3, ACQUIRE, 1, false)), "{found:?}");
}

#[test]
fn what_has_to_be_repaired_as_well_leaves_no_idle_change() {
    let problem = message_and_buffering("b=x.acq; c=d.rlx");
    let first = [allowing(&problem, &BUFFERING), allowing(&problem, &[])];
    let found = changes(&searched(&problem, &first));
    assert!(found.iter().all(|change| !change.3), "{found:?}");
    assert!(
        found.iter().all(|change| change.1 != RELEASE),
        "a fence does for it: {found:?}"
    );
}

/// A second message, which has nothing to do with the first, keeps its own repair.
#[test]
fn a_cause_that_the_rest_does_not_touch_is_not_searched_again() {
    let threads = [
        "d=1.rlx; a=y.rlx; x=1.rlx",
        "b=x.rlx; c=d.rlx",
        "y=1.rlx; e=d.rlx",
        "f=1.rlx; z=1.rlx",
        "g=z.rlx; h=f.rlx",
    ];
    let problem = problem(&program("messages", &threads).expect("the notation is right"));
    let first = allowing(&problem, &BUFFERING);
    let found = changes(&searched(&problem, &[first]));
    assert!(found.contains(&(8, RELEASE, 0, false)), "{found:?}");
    assert!(found.contains(&(9, ACQUIRE, 0, false)), "{found:?}");
    assert!(found.contains(&(3, ACQUIRE, 1, false)), "{found:?}");
}
