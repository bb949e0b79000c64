//! Witnesses that were tampered with: each is refuted, and for the right reason.

use std::collections::BTreeMap;

use super::run::{RLX, Run, SC, X, Y};
use super::tamper::without;
use crate::event::{LocationId, LockMode, Operation, ThreadId};
use crate::model::Model;
use crate::order::FenceOrder;
use crate::witness::{Defect, Guard, Label, NodeId, ObjectId, Refutation, Start, Witness, check};

/// Store buffering with an RMW of x in front, so that there is something to
/// break: init, x: 0 -> 3 by an RMW, x = 1; a = y || y = 1; b = x.
fn witness() -> Witness {
    let mut run = Run::new();
    let stale = run.rmw(3, X, RLX.rmw, 0, 3);
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 1);
    let witness = run.witness(newer, Some(stale), Model::RC11);
    assert_eq!(check(&witness, Model::RC11), Ok(()));
    witness
}

fn node(witness: &Witness, is: impl Fn(&Label) -> bool) -> NodeId {
    let found = witness.iter().find(|(_, node)| is(&node.label));
    found.expect("such a node").0
}

fn object(location: u32) -> ObjectId {
    ObjectId {
        location: LocationId(location),
        incarnation: 0,
    }
}

fn defect(witness: &Witness) -> Defect {
    match check(witness, Model::RC11) {
        Err(Refutation::IllFormed(defect)) => defect,
        other => panic!("not ill-formed: {other:?}"),
    }
}

#[test]
fn a_read_from_a_write_of_another_value() {
    let mut witness = witness();
    let newer = node(
        &witness,
        |l| matches!(l, Label::Write { value: 1, object, .. } if object.location.0 == X),
    );
    witness.reads_from.insert(witness.access, newer);
    let read = witness.access;
    assert_eq!(
        defect(&witness),
        Defect::Value {
            read,
            source_node: newer
        }
    );
}

#[test]
fn a_read_from_another_location_or_from_no_write() {
    let mut witness = witness();
    let read = witness.access;
    let elsewhere = witness.modification[&object(Y)][0];
    witness.reads_from.insert(read, elsewhere);
    assert_eq!(
        defect(&witness),
        Defect::SourceElsewhere {
            read,
            source_node: elsewhere
        }
    );
    witness.reads_from.insert(read, read);
    assert_eq!(
        defect(&witness),
        Defect::SourceElsewhere {
            read,
            source_node: read
        }
    );
    witness.reads_from.remove(&read);
    assert_eq!(defect(&witness), Defect::Source(read));
    witness.reads_from.insert(read, NodeId(99));
    assert_eq!(defect(&witness), Defect::NoSuchNode(NodeId(99)));
}

#[test]
fn a_read_from_the_newer_write_is_no_witness() {
    let mut witness = witness();
    let newer = node(
        &witness,
        |l| matches!(l, Label::Write { value: 1, object, .. } if object.location.0 == X),
    );
    witness.reads_from.insert(witness.access, newer);
    let access = &mut witness.nodes[witness.access.0].label;
    if let Label::Read { value, .. } = access {
        *value = Some(1);
    }
    assert_eq!(
        check(&witness, Model::RC11),
        Err(Refutation::IsSequentiallyConsistent)
    );
}

#[test]
fn modification_orders_that_are_none() {
    let whole = witness();
    let order = &whole.modification[&object(X)];
    let mut duplicate = order.clone();
    duplicate.push(order[1]);
    let mut late_initial = order.clone();
    late_initial.swap(0, 1);
    let mut foreign = order.clone();
    foreign.push(whole.modification[&object(Y)][0]);
    let missing = order[..1].to_vec();
    for order in [duplicate, late_initial, foreign, missing, Vec::new()] {
        let mut witness = whole.clone();
        witness.modification.insert(object(X), order);
        assert_eq!(defect(&witness), Defect::Modification(object(X)));
    }
}

#[test]
fn a_write_between_an_rmw_and_its_source() {
    let mut witness = witness();
    let order = witness
        .modification
        .get_mut(&object(X))
        .expect("x is written");
    order.swap(1, 2);
    let (between, rmw) = (order[1], order[2]);
    assert_eq!(
        check(&witness, Model::RC11),
        Err(Refutation::Atomicity { rmw, between })
    );
}

#[test]
fn dropped_and_doubled_events() {
    let whole = witness();
    let fixed = |witness: &Witness, gone: usize| without(witness, NodeId(gone));
    for gone in 0..whole.nodes.len() {
        assert!(
            check(&fixed(&whole, gone), Model::RC11).is_err(),
            "without node {gone}"
        );
    }
    let first = node(
        &whole,
        |l| matches!(l, Label::Write { object, .. } if object.location.0 == Y),
    );
    let gap = Defect::Gap {
        thread: ThreadId(2),
        position: 0,
    };
    assert_eq!(defect(&fixed(&whole, first.0)), gap);

    let mut doubled = whole.clone();
    let position = doubled.nodes[first.0].position;
    doubled.nodes[doubled.access.0].position = position;
    let gap = Defect::Gap {
        thread: ThreadId(2),
        position: 1,
    };
    assert_eq!(defect(&doubled), gap);
}

#[test]
fn values_that_lead_the_program_elsewhere() {
    let mut witness = witness();
    if let Label::Read { guard, .. } = &mut witness.nodes[witness.access.0].label {
        *guard = Guard::Differs(3);
    }
    assert_eq!(defect(&witness), Defect::Guard(witness.access));
}

#[test]
fn a_result_that_the_run_never_showed_is_not_read() {
    let mut witness = witness();
    let rmw = node(&witness, Label::is_rmw);
    if let Label::Rmw { written, .. } = &mut witness.nodes[rmw.0].label {
        *written = None;
    }
    if let Label::Read { value, .. } = &mut witness.nodes[witness.access.0].label {
        *value = None;
    }
    let read = witness.access;
    assert_eq!(
        defect(&witness),
        Defect::Value {
            read,
            source_node: rmw
        }
    );
}

#[test]
fn threads_that_end_twice_or_are_joined_alive() {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    run.push(1, Operation::Exit);
    run.push(3, Operation::Join { child: ThreadId(1) });
    run.store(2, Y, RLX.store, 1);
    // The joiner is in the graph because the access's thread rests on it.
    run.rmw(3, Y, RLX.rmw, 1, 4);
    run.load(2, Y, RLX.load, 4);
    run.load(2, X, RLX.load, 1);
    let whole = run.witness(newer, None, Model::RC11);
    assert_eq!(check(&whole, Model::RC11), Ok(()));
    let exit = node(&whole, |l| *l == Label::Exit);

    let mut alive = whole.clone();
    alive.nodes[exit.0].label = Label::Fence {
        order: FenceOrder::Acquire,
    };
    let join = node(&whole, |l| matches!(l, Label::Join { .. }));
    assert_eq!(defect(&alive), Defect::JoinWithoutExit(join));

    let mut undead = whole.clone();
    let read = node(
        &undead,
        |l| matches!(l, Label::Read { object, .. } if object.location.0 == Y),
    );
    let position = undead.nodes[read.0].position;
    undead.nodes[read.0].position = undead.nodes[exit.0].position;
    undead.nodes[exit.0].position = position;
    assert_eq!(defect(&undead), Defect::AfterExit(exit));
}

#[test]
fn orders_of_locks_and_fences_that_are_none() {
    let mut run = Run::new();
    run.lock(1, 7, LockMode::Shared);
    let newer = run.store(1, X, RLX.store, 1);
    run.fence(1, FenceOrder::SeqCst);
    run.load(1, Y, RLX.load, 0);
    run.lock(2, 7, LockMode::Shared);
    run.store(2, Y, RLX.store, 1);
    run.unlock(2, 7, LockMode::Shared);
    run.load(2, X, RLX.load, 1);
    let mut witness = run.witness(newer, None, Model::RC20);
    assert_eq!(check(&witness, Model::RC20), Ok(()));
    let (lock, order) = witness.lock_order.pop_first().expect("a lock");
    assert_eq!(defect(&witness), Defect::LockOrder(lock));
    let backwards = order.iter().rev().copied().collect();
    witness.lock_order.insert(lock, backwards);
    assert_eq!(defect(&witness), Defect::LockOrder(lock));
    witness.lock_order.insert(lock, order);
    witness.fence_order.clear();
    assert_eq!(check(&witness, Model::RC20), Err(Defect::FenceOrder.into()));
    assert_eq!(check(&witness, Model::RC11), Ok(()));
}

#[test]
fn threads_must_begin_where_the_graph_does() {
    let mut cut = witness();
    let positions = BTreeMap::from([(ThreadId(2), 1)]);
    cut.start = Start::Cut {
        first: crate::EventIndex(0),
        positions,
    };
    assert_eq!(
        defect(&cut),
        Defect::Gap {
            thread: ThreadId(2),
            position: 1
        }
    );
    let mut homeless = witness();
    homeless.nodes[homeless.access.0].thread = None;
    assert_eq!(defect(&homeless), Defect::Threadless(homeless.access));
}

/// Load buffering, by hand: no run has it, so no builder does.
fn load_buffering(release: bool) -> Witness {
    let mut run = Run::new();
    run.load(1, Y, if release { SC.load } else { RLX.load }, 0);
    let newer = run.store(1, X, if release { SC.store } else { RLX.store }, 1);
    run.load(2, X, if release { SC.load } else { RLX.load }, 1);
    run.store(2, Y, if release { SC.store } else { RLX.store }, 1);
    let last = run.store(1, X, RLX.store, 2);
    run.load(2, X, RLX.load, 2);
    let mut witness = run.witness(newer, None, Model::RC11);
    assert!(
        witness
            .iter()
            .all(|(_, node)| node.event.is_none_or(|e| e.0 != last as u64))
    );
    // The stale read goes; the first read takes the value of the last store.
    let access = witness.access;
    witness.nodes.pop();
    witness.reads_from.remove(&access);
    let read = node(
        &witness,
        |l| matches!(l, Label::Read { object, .. } if object.location.0 == Y),
    );
    let write = node(
        &witness,
        |l| matches!(l, Label::Write { object, .. } if object.location.0 == Y),
    );
    witness.reads_from.insert(read, write);
    if let Label::Read { value, .. } = &mut witness.nodes[read.0].label {
        *value = Some(1);
    }
    witness.access = read;
    witness
}

#[test]
fn values_out_of_thin_air() {
    let verdict = check(&load_buffering(false), Model::RC11);
    assert!(matches!(verdict, Err(Refutation::ThinAir { ref cycle }) if cycle.len() == 4));
    let verdict = check(&load_buffering(true), Model::RC11);
    assert!(matches!(verdict, Err(Refutation::HappensBefore { ref cycle }) if cycle.len() == 4));
}
