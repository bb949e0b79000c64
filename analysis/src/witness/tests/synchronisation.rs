//! Thread creation, joins, locks, and locations that come and go.

use super::run::{RA, RLX, Run, X, Y, bytes};
use crate::event::{LockMode, Operation, ThreadId};
use crate::model::Model;
use crate::witness::{BuildError, Edge, Label, Refutation, Start, Witness, check, explain};

#[test]
fn a_child_knows_what_its_creator_did_before() {
    // The newer write is only hb_SC-before the child, or also hb-before it.
    let build = |first: bool| {
        let mut run = Run::new();
        let create = Operation::Create { child: ThreadId(2) };
        if first {
            run.push(1, create);
        }
        let newer = run.store(1, X, RLX.store, 1);
        if !first {
            run.push(1, create);
        }
        run.load(1, Y, RLX.load, 0);
        run.store(2, Y, RLX.store, 1);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    assert_eq!(build(true), Ok(()));
    assert!(matches!(build(false), Err(Refutation::Coherence { .. })));
}

#[test]
fn the_first_event_of_a_child_can_be_the_access() {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.load(3, X, RLX.load, 1);
    run.push(3, Operation::Create { child: ThreadId(2) });
    run.load(2, X, RLX.load, 1);
    // Thread 3 has read x = 1, so by coherence its child has to see it.
    assert!(matches!(
        run.verdict(newer, None),
        Err(Refutation::Coherence { .. })
    ));

    // What thread 3 knows of y's write it knows by a relaxed read only.
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.store(1, Y, RLX.store, 1);
    run.load(3, Y, RLX.load, 1);
    run.push(3, Operation::Create { child: ThreadId(2) });
    run.load(2, X, RLX.load, 1);
    assert_eq!(run.verdict(newer, None), Ok(()));
}

#[test]
fn who_joins_a_thread_knows_what_it_did() {
    let build = |join: bool| {
        let mut run = Run::new();
        let newer = run.store(1, X, RLX.store, 1);
        run.load(1, Y, RLX.load, 0);
        run.push(1, Operation::Exit);
        if join {
            run.push(2, Operation::Join { child: ThreadId(1) });
        }
        run.store(2, Y, RLX.store, 1);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    assert_eq!(build(false), Ok(()));
    assert!(matches!(build(true), Err(Refutation::Coherence { .. })));
}

#[test]
fn locks_hand_on_by_mode() {
    use LockMode::{Exclusive, Shared, Signal};
    let build = |given: LockMode, taken: LockMode| {
        let mut run = Run::new();
        run.lock(1, 7, given);
        let newer = run.store(1, X, RLX.store, 1);
        run.load(1, Y, RLX.load, 0);
        run.unlock(1, 7, given);
        run.lock(2, 7, taken);
        run.store(2, Y, RLX.store, 1);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    for (given, taken) in [
        (Exclusive, Exclusive),
        (Exclusive, Shared),
        (Shared, Exclusive),
        (Signal, Signal),
    ] {
        let verdict = build(given, taken);
        assert!(
            matches!(verdict, Err(Refutation::Coherence { .. })),
            "{given:?} {taken:?}"
        );
    }
    assert_eq!(build(Shared, Shared), Ok(()));
}

#[test]
fn only_the_same_lock_helps() {
    let build = |other: u64| {
        let mut run = Run::new();
        run.lock(1, 7, LockMode::Exclusive);
        let newer = run.store(1, X, RLX.store, 1);
        run.load(1, Y, RLX.load, 0);
        run.unlock(1, 7, LockMode::Exclusive);
        run.lock(2, other, LockMode::Exclusive);
        run.store(2, Y, RLX.store, 1);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    assert_eq!(build(8), Ok(()));
    assert!(build(7).is_err());
}

#[test]
fn a_reborn_location_has_no_past() {
    let mut run = Run::new();
    let old = run.store(1, X, RLX.store, 1);
    run.push(1, Operation::Death { bytes: bytes(X) });
    run.birth(X, 5);
    let newer = run.store(1, X, RLX.store, 6);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 6);
    let witness = run.witness(newer, None, Model::RC11);
    assert_eq!(witness.node(witness.access).label.value_read(), Some(5));
    assert_eq!(check(&witness, Model::RC11), Ok(()));
    let violation = run.violation(newer, &[Some(old)]);
    let refused = Witness::build(&run.events, &violation, Model::RC11);
    assert_eq!(refused, Err(BuildError::NoSuchWrite(violation.stale[0])));
}

#[test]
fn a_plain_write_starts_a_location_with_a_value_that_a_read_tells() {
    let build = |told: bool| {
        let mut run = Run::new();
        run.push(1, Operation::Write { bytes: bytes(X) });
        if told {
            run.load(1, X, RLX.load, 3);
        }
        let newer = run.store(1, X, RLX.store, 6);
        run.load(1, Y, RLX.load, 0);
        run.store(2, Y, RLX.store, 1);
        run.load(2, X, RLX.load, 6);
        let witness = run.witness(newer, None, Model::RC11);
        assert_eq!(check(&witness, Model::RC11), Ok(()));
        witness.node(witness.access).label.value_read()
    };
    assert_eq!((build(true), build(false)), (Some(3), None));
}

#[test]
fn a_long_run_is_cut_behind_the_stale_write() {
    let mut run = Run::new();
    for round in 0..2_000 {
        run.store(1, X, RA.store, round);
        run.load(2, X, RA.load, round);
    }
    let stale = run.store(1, X, RLX.store, 1);
    let newer = run.store(1, X, RLX.store, 2);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 2);
    let witness = run.witness(newer, Some(stale), Model::RC11);
    assert_eq!(check(&witness, Model::RC11), Ok(()));
    assert!(matches!(witness.start, Start::Cut { .. }));
    // x and y, and the events from the write after the stale one on.
    assert_eq!(witness.nodes.len(), 2 + 4);
    let before = (witness.iter()).find_map(|(_, node)| match node.label {
        Label::Initial { object, value } if object.location.0 == X => Some((value, node.event)),
        _ => None,
    });
    let (value, event) = before.expect("x has an initial write");
    assert_eq!((value, event.map(|e| e.0)), (Some(1), Some(stale as u64)));
}

#[test]
fn what_a_thread_does_while_it_holds_a_guard_is_not_in_the_graph() {
    let mut run = Run::new();
    let taken = run.store(1, X, RA.store, 1);
    for _ in 0..check::MAX_NODES {
        run.store(1, Y, RLX.store, 0);
    }
    let given_back = run.store(1, X, RA.store, 0);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 0);
    assert_eq!(run.verdict(given_back, Some(taken)), Ok(()));
}

#[test]
fn a_graph_above_the_cap_is_not_decided() {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    for _ in 0..check::MAX_NODES {
        run.store(2, Y, RLX.store, 1);
    }
    run.load(2, X, RLX.load, 1);
    let refused = run.verdict(newer, None);
    assert!(matches!(refused, Err(Refutation::TooLarge { nodes }) if nodes > check::MAX_NODES));
}

#[test]
fn explanations_go_through_threads_and_locks() {
    use Edge::{ProgramOrder, ReadsFrom, Synchronisation};
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.store(1, Y, RLX.store, 1);
    let read = run.load(3, Y, RLX.load, 1);
    let unlock = run.unlock(3, 7, LockMode::Signal);
    let lock = run.lock(4, 7, LockMode::Signal);
    let create = run.push(4, Operation::Create { child: ThreadId(2) });
    let access = run.load(2, X, RLX.load, 1);
    let violation = run.violation(newer, &[None]);
    let explanation = explain::path(&run.events, &violation, Model::RC11).expect("a path");
    let steps: Vec<(Edge, usize)> = (explanation.path.iter())
        .map(|step| (step.edge, step.to.0 as usize))
        .collect();
    let expected = [
        (ProgramOrder, newer + 1),
        (ReadsFrom, read),
        (ProgramOrder, unlock),
        (Synchronisation, lock),
        (ProgramOrder, create),
        (Synchronisation, access),
    ];
    assert_eq!(steps, expected);
    assert_eq!(run.verdict(newer, None), Ok(()));
}
