//! The classic programs: each has its witness with weak labels, and each label
//! that forbids the weak outcome refutes the same graph by the right axiom.

use super::run::{Cas, Orders, RA, RLX, Run, SC, X, Y};
use crate::event::{CasStrength, LoopExit};
use crate::model::Model;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use crate::witness::check::MAX_NODES;
use crate::witness::{
    BuildError, Edge, Label, ProofError, Refutation, Witness, check, explain, prove,
};

/// Store buffering: x = 1; a = y || y = 1; b = x, with fences between if wanted.
fn store_buffering(orders: Orders, fences: [Option<FenceOrder>; 2]) -> (Run, usize) {
    let mut run = Run::new();
    let newer = run.store(1, X, orders.store, 1);
    fences[0].map(|order| run.fence(1, order));
    run.load(1, Y, orders.load, 0);
    run.store(2, Y, orders.store, 1);
    fences[1].map(|order| run.fence(2, order));
    run.load(2, X, orders.load, 1);
    (run, newer)
}

#[test]
fn store_buffering_has_a_witness_unless_all_is_sc() {
    for orders in [RLX, RA] {
        let (run, newer) = store_buffering(orders, [None, None]);
        assert_eq!(run.verdict(newer, None), Ok(()), "{orders:?}");
    }
    let (run, newer) = store_buffering(SC, [None, None]);
    assert!(matches!(
        run.verdict(newer, None),
        Err(Refutation::ScOrder { .. })
    ));
}

/// Of a long run, the stale write that leaves the least of it is taken, though what is
/// read then is no other value.
#[test]
fn a_stale_write_long_ago_does_not_make_the_graph_too_large() {
    let mut run = Run::new();
    let first = run.store(1, X, RLX.store, 5);
    for value in 0..MAX_NODES as u64 {
        run.store(1, Y, RLX.store, value);
    }
    let same = run.store(1, X, RLX.store, 5);
    let newer = run.store(1, X, RLX.store, 5);
    run.load(1, 2, RLX.load, 0);
    run.store(2, 2, RLX.store, 1);
    run.load(2, X, RLX.load, 5);
    let prove = |stale: &[Option<usize>]| {
        let violations = [run.violation(newer, stale)];
        let [proof] = prove(&run.events, &violations, Model::RC11)
            .try_into()
            .expect("one proof");
        proof.map(|_| ())
    };
    assert!(matches!(
        prove(&[None]),
        Err(ProofError::Refuted(Refutation::TooLarge { .. }))
    ));
    assert_eq!(prove(&[None, Some(first), Some(same)]), Ok(()));
}

#[test]
fn store_buffering_needs_both_sc_fences() {
    let sc = Some(FenceOrder::SeqCst);
    let (run, newer) = store_buffering(RLX, [sc, sc]);
    assert!(matches!(
        run.verdict(newer, None),
        Err(Refutation::ScOrder { .. })
    ));
    for weaker in [None, Some(FenceOrder::AcqRel)] {
        let (run, newer) = store_buffering(RLX, [sc, weaker]);
        assert_eq!(run.verdict(newer, None), Ok(()), "{weaker:?}");
    }
}

#[test]
fn rc20_orders_fences_but_not_sc_accesses() {
    let (run, newer) = store_buffering(SC, [None, None]);
    assert_eq!(
        check(&run.witness(newer, None, Model::RC20), Model::RC20),
        Ok(())
    );
    let sc = Some(FenceOrder::SeqCst);
    let (run, newer) = store_buffering(RLX, [sc, sc]);
    let witness = run.witness(newer, None, Model::RC20);
    assert!(matches!(
        check(&witness, Model::RC20),
        Err(Refutation::Coherence { .. })
    ));
}

#[test]
fn rc20_finds_cycles_through_the_order_of_fences_that_rc11_does_not_have() {
    // F; x = 1 || x = 2; b = y || y = 1; F: robust in RC11.
    let mut run = Run::new();
    let newer = run.store(3, Y, RLX.store, 1);
    run.fence(3, FenceOrder::SeqCst);
    run.fence(1, FenceOrder::SeqCst);
    run.store(1, X, RLX.store, 1);
    run.store(2, X, RLX.store, 2);
    run.load(2, Y, RLX.load, 1);
    let violation = run.violation(newer, &[None]);
    assert_eq!(
        Witness::build(&run.events, &violation, Model::RC11),
        Err(BuildError::NotAfter)
    );
    assert_eq!(
        check(&run.witness(newer, None, Model::RC20), Model::RC20),
        Ok(())
    );
    let path = explain::path(&run.events, &violation, Model::RC20).expect("a path");
    let edges: Vec<Edge> = path.path.iter().map(|edge| edge.edge).collect();
    use Edge::{FenceOrder as Order, Modification, ProgramOrder};
    assert_eq!(
        edges,
        [
            ProgramOrder,
            Order,
            ProgramOrder,
            Modification,
            ProgramOrder
        ]
    );
}

/// Message passing: x = 1; y = 1 || a = y (1); b = x.
fn message_passing(store: StoreOrder, load: LoadOrder) -> (Run, usize) {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.store(1, Y, store, 1);
    run.load(2, Y, load, 1);
    run.load(2, X, RLX.load, 1);
    (run, newer)
}

#[test]
fn message_passing_needs_release_and_acquire() {
    for (store, load) in [
        (RLX.store, RLX.load),
        (RA.store, RLX.load),
        (RLX.store, RA.load),
    ] {
        let (run, newer) = message_passing(store, load);
        assert_eq!(run.verdict(newer, None), Ok(()), "{store:?} {load:?}");
    }
    for (store, load) in [(RA.store, RA.load), (SC.store, RA.load)] {
        let (run, newer) = message_passing(store, load);
        assert!(matches!(
            run.verdict(newer, None),
            Err(Refutation::Coherence { .. })
        ));
    }
}

#[test]
fn fences_synchronise_with_accesses_and_with_each_other() {
    let build = |before: FenceOrder, after: FenceOrder| {
        let mut run = Run::new();
        let newer = run.store(1, X, RLX.store, 1);
        run.fence(1, before);
        run.store(1, Y, RLX.store, 1);
        run.load(2, Y, RLX.load, 1);
        run.fence(2, after);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    let refuted = build(FenceOrder::Release, FenceOrder::Acquire);
    assert!(matches!(refuted, Err(Refutation::Coherence { .. })));
    assert_eq!(build(FenceOrder::Acquire, FenceOrder::Acquire), Ok(()));
    assert_eq!(build(FenceOrder::Release, FenceOrder::Release), Ok(()));
}

#[test]
fn a_release_sequence_goes_on_through_rmws_only() {
    let build = |continues: bool| {
        let mut run = Run::new();
        let newer = run.store(1, X, RLX.store, 1);
        run.store(1, Y, RA.store, 1);
        match continues {
            true => run.rmw(3, Y, RLX.rmw, 1, 2),
            false => run.store(3, Y, RLX.store, 2),
        };
        run.load(2, Y, RA.load, 2);
        run.load(2, X, RLX.load, 1);
        run.verdict(newer, None)
    };
    assert!(matches!(build(true), Err(Refutation::Coherence { .. })));
    assert_eq!(build(false), Ok(()));
}

/// Two writers, two readers that see them in opposite orders.
fn independent_reads(orders: Orders) -> (Run, usize) {
    let mut run = Run::new();
    let newer = run.store(1, X, orders.store, 1);
    run.load(3, X, orders.load, 1);
    run.load(3, Y, orders.load, 0);
    run.store(2, Y, orders.store, 1);
    run.load(4, Y, orders.load, 1);
    run.load(4, X, orders.load, 1);
    (run, newer)
}

#[test]
fn independent_reads_of_independent_writes() {
    for orders in [RLX, RA] {
        let (run, newer) = independent_reads(orders);
        assert_eq!(run.verdict(newer, None), Ok(()), "{orders:?}");
    }
    let (run, newer) = independent_reads(SC);
    assert!(matches!(
        run.verdict(newer, None),
        Err(Refutation::ScOrder { .. })
    ));
}

/// 2+2W: x = 1; y = 2 || y = 1; x = 2, and the last write lands first.
fn two_plus_two_writes(orders: Orders) -> (Run, usize) {
    let mut run = Run::new();
    let newer = run.store(1, X, orders.store, 1);
    run.store(1, Y, orders.store, 2);
    run.store(2, Y, orders.store, 1);
    run.store(2, X, orders.store, 2);
    (run, newer)
}

#[test]
fn two_plus_two_writes_has_a_witness_unless_sc() {
    for orders in [RLX, RA] {
        let (run, newer) = two_plus_two_writes(orders);
        assert_eq!(run.verdict(newer, None), Ok(()), "{orders:?}");
    }
    let (run, newer) = two_plus_two_writes(SC);
    assert!(matches!(
        run.verdict(newer, None),
        Err(Refutation::ScOrder { .. })
    ));
}

#[test]
fn an_rmw_cannot_be_split_from_what_it_read() {
    // Store buffering with an RMW of x: the store of x may not slip between.
    let build = |rmw: bool| {
        let mut run = Run::new();
        let newer = match rmw {
            true => run.rmw(1, X, RLX.rmw, 0, 1),
            false => run.store(1, X, RLX.store, 1),
        };
        run.load(1, Y, RLX.load, 0);
        run.store(2, Y, RLX.store, 1);
        run.store(2, X, RLX.store, 2);
        let violation = run.violation(newer, &[None]);
        Witness::build(&run.events, &violation, Model::RC11)
    };
    assert_eq!(build(true), Err(BuildError::NothingToTake));
    let witness = build(false).expect("a witness");
    assert_eq!(check(&witness, Model::RC11), Ok(()));
}

#[test]
fn an_rmw_acts_on_a_stale_value_and_its_result_is_not_made_up() {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 5);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.rmw(2, X, RLX.rmw, 5, 6);
    let witness = run.witness(newer, None, Model::RC11);
    assert_eq!(check(&witness, Model::RC11), Ok(()));
    let Label::Rmw { read, written, .. } = witness.node(witness.access).label else {
        panic!("the access is an rmw");
    };
    assert_eq!((read, written), (Some(0), None));
}

/// Store buffering whose last access is a compare-exchange after x = 1.
fn stale_cas(cas: Cas) -> Result<Witness, BuildError> {
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.cas(2, X, cas);
    Witness::build(&run.events, &run.violation(newer, &[None]), Model::RC11)
}

#[test]
fn a_compare_exchange_succeeds_or_fails_by_the_stale_value() {
    let fails_on_0 = Cas {
        orders: RLX,
        strength: CasStrength::Strong,
        expected: 1,
        desired: 2,
        read: 1,
        blocking: false,
    };
    let succeeds_on_0 = Cas {
        expected: 0,
        ..fails_on_0
    };

    let witness = stale_cas(fails_on_0).expect("it can fail");
    assert!(matches!(
        witness.node(witness.access).label,
        Label::Read { value: Some(0), .. }
    ));
    assert_eq!(check(&witness, Model::RC11), Ok(()));

    let witness = stale_cas(succeeds_on_0).expect("it can succeed");
    assert!(matches!(
        witness.node(witness.access).label,
        Label::Rmw { read: Some(0), .. }
    ));
    assert_eq!(check(&witness, Model::RC11), Ok(()));

    let waits = Cas {
        blocking: true,
        ..fails_on_0
    };
    assert_eq!(stale_cas(waits), Err(BuildError::NothingToTake));
    let waits = Cas {
        blocking: true,
        ..succeeds_on_0
    };
    let witness = stale_cas(waits).expect("its wait can end");
    assert_eq!(check(&witness, Model::RC11), Ok(()));
}

#[test]
fn a_compare_exchange_that_read_an_rmw_can_only_fail_if_it_is_weak() {
    let build = |strength| {
        let mut run = Run::new();
        run.rmw(3, X, RLX.rmw, 0, 7);
        let newer = run.store(1, X, RLX.store, 1);
        run.load(1, Y, RLX.load, 0);
        run.store(2, Y, RLX.store, 1);
        run.cas(
            2,
            X,
            Cas {
                orders: RLX,
                strength,
                expected: 0,
                desired: 9,
                read: 1,
                blocking: false,
            },
        );
        Witness::build(&run.events, &run.violation(newer, &[None]), Model::RC11)
    };
    assert_eq!(build(CasStrength::Strong), Err(BuildError::NothingToTake));
    let witness = build(CasStrength::Weak).expect("it fails for no reason");
    assert!(matches!(
        witness.node(witness.access).label,
        Label::Read { value: Some(0), .. }
    ));
    assert_eq!(check(&witness, Model::RC11), Ok(()));
}

#[test]
fn a_wait_takes_only_what_ends_it_and_rounds_do_not_count() {
    let build = |exit: LoopExit| {
        let mut run = Run::new();
        let newer = run.store(1, X, RLX.store, 1);
        run.load(1, Y, RLX.load, 0);
        // A round that goes on: if it counted, the thread would have seen x = 1.
        run.wait(2, X, RA.load, 1, LoopExit::equal(9));
        run.store(2, Y, RLX.store, 1);
        run.wait(2, X, RLX.load, 1, exit);
        Witness::build(&run.events, &run.violation(newer, &[None]), Model::RC11)
    };
    assert_eq!(build(LoopExit::equal(1)), Err(BuildError::NothingToTake));
    let witness = build(LoopExit::equal(0)).expect("0 ends it");
    assert_eq!(check(&witness, Model::RC11), Ok(()));
}

#[test]
fn a_thread_that_ran_to_its_end_before_the_other_began_is_still_found() {
    // x = 1; a = y; x = 2 || y = 1; b = x: only x = 1 is before the access.
    let mut run = Run::new();
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    let last = run.store(1, X, RLX.store, 2);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 2);
    let witness = run.witness(newer, None, Model::RC11);
    assert_eq!(check(&witness, Model::RC11), Ok(()));
    let kept = |event: usize| {
        witness
            .iter()
            .any(|(_, n)| n.event.is_some_and(|e| e.0 == event as u64))
    };
    assert!(kept(newer) && !kept(last));
}

#[test]
fn of_several_stale_writes_the_newest_with_another_value_is_shown() {
    let mut run = Run::new();
    let first = run.store(1, X, RLX.store, 7);
    let same = run.store(1, X, RLX.store, 1);
    let newer = run.store(1, X, RLX.store, 1);
    run.load(1, Y, RLX.load, 0);
    run.store(2, Y, RLX.store, 1);
    run.load(2, X, RLX.load, 1);
    let violation = run.violation(newer, &[None, Some(first), Some(same)]);
    let witness = Witness::build(&run.events, &violation, Model::RC11).expect("a witness");
    assert_eq!(witness.node(witness.access).label.value_read(), Some(7));
    let all = Witness::build_all(&run.events, &violation, Model::RC11).expect("three");
    let values: Vec<_> = all
        .iter()
        .map(|w| w.node(w.access).label.value_read())
        .collect();
    assert_eq!(values, [Some(0), Some(7), Some(1)]);
    assert!(
        all.iter()
            .all(|witness| check(witness, Model::RC11) == Ok(()))
    );
}

#[test]
fn explanations_are_the_shortest_cycle() {
    let (run, newer) = store_buffering(RLX, [None, None]);
    let explanation = explain::path(&run.events, &run.violation(newer, &[None]), Model::RC11);
    let explanation = explanation.expect("a path");
    let steps: Vec<(Edge, u64)> = explanation.path.iter().map(|s| (s.edge, s.to.0)).collect();
    use Edge::{FromRead, ProgramOrder};
    assert_eq!(steps, [(ProgramOrder, 3), (FromRead, 4), (ProgramOrder, 5)]);
    assert_eq!((explanation.newer.0, explanation.back), (2, FromRead));
}

#[test]
fn sc_rmws_are_ordered_like_other_sc_accesses() {
    let build = |order: RmwOrder| {
        let mut run = Run::new();
        let newer = run.rmw(1, X, order, 0, 1);
        run.load(1, Y, SC.load, 0);
        run.rmw(2, Y, order, 0, 1);
        run.load(2, X, SC.load, 1);
        run.verdict(newer, None)
    };
    assert_eq!(build(RmwOrder::AcqRel), Ok(()));
    assert!(matches!(
        build(RmwOrder::SeqCst),
        Err(Refutation::ScOrder { .. })
    ));
}
