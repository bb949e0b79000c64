//! Random witnesses that were tampered with at random: none gets through.

use std::sync::OnceLock;

use super::case::{case, newest};
use super::generate::Dice;
use crate::event::Event;
use crate::model::Model;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use crate::witness::build::{graph, way};
use crate::witness::graph::{Guard, Label, Node, NodeId, Start, Witness};
use crate::witness::{Defect, Refutation, RunMismatch, belongs, check};

/// Every witness in RC11 that the first seeds give.
fn witnesses() -> impl Iterator<Item = (u64, Witness)> {
    let all = witnesses_and_runs().iter();
    all.map(|(seed, witness, _)| (*seed, witness.clone()))
}

/// The same with the events they come from.
fn witnesses_and_runs() -> &'static [(u64, Witness, Vec<Event>)] {
    static ALL: OnceLock<Vec<(u64, Witness, Vec<Event>)>> = OnceLock::new();
    ALL.get_or_init(find_witnesses)
}

fn find_witnesses() -> Vec<(u64, Witness, Vec<Event>)> {
    let mut found = Vec::new();
    for seed in 0..4_000 {
        let case = case(seed);
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        let Some(violation) = (writes > 0).then(|| case.violation(writes)).flatten() else {
            continue;
        };
        for stale in case.choices(&violation) {
            for limit in [0, usize::MAX] {
                let witness = way(&case.graph, &violation, Model::RC11).and_then(|way| {
                    graph(&case.graph, &violation, &stale, Model::RC11, &way, limit)
                });
                let proves = |witness: &Witness| check(witness, Model::RC11).is_ok();
                let witness = witness.ok().filter(proves);
                found.extend(witness.map(|witness| (seed, witness, case.run.events.clone())));
            }
        }
    }
    assert!(found.len() > 150, "{}", found.len());
    found
}

#[test]
fn a_read_from_any_other_write_of_another_value_is_caught() {
    let mut caught = 0;
    for (seed, witness) in witnesses() {
        for (&read, &source) in &witness.reads_from {
            let label = witness.node(read).label;
            for &other in &witness.modification[&label.object().expect("it reads")] {
                if witness.node(other).label.value_written() == label.value_read() {
                    continue;
                }
                let mut witness = witness.clone();
                assert_eq!(witness.reads_from.insert(read, other), Some(source));
                let defect = Defect::Value {
                    read,
                    source_node: other,
                };
                assert_eq!(
                    check(&witness, Model::RC11),
                    Err(defect.into()),
                    "seed {seed}"
                );
                caught += 1;
            }
        }
    }
    assert!(caught > 200, "{caught}");
}

#[test]
fn an_rmw_moved_away_from_its_source_is_caught() {
    let mut caught = 0;
    for (seed, witness) in witnesses() {
        for (object, order) in &witness.modification {
            for at in 1..order.len() {
                // One of the two that change places reads the other, or what
                // is before it.
                let moved = [order[at - 1], order[at]];
                if at == 1 || !moved.iter().any(|&id| witness.node(id).label.is_rmw()) {
                    continue;
                }
                let mut witness = witness.clone();
                let order = witness.modification.get_mut(object).expect("it is there");
                order.swap(at - 1, at);
                let refuted = check(&witness, Model::RC11);
                let atomicity = matches!(refuted, Err(Refutation::Atomicity { .. }));
                assert!(atomicity, "seed {seed}: {refuted:?}");
                caught += 1;
            }
        }
    }
    assert!(caught > 30, "{caught}");
}

#[test]
fn an_event_lost_in_the_middle_of_a_thread_is_caught() {
    let mut caught = 0;
    for (seed, witness) in witnesses() {
        for (id, node) in witness.iter() {
            let follows =
                |other: &Node| other.thread == node.thread && other.position > node.position;
            if node.thread.is_none() || !witness.nodes.iter().any(follows) {
                continue;
            }
            let refuted = check(&without(&witness, id), Model::RC11);
            let ill_formed = matches!(refuted, Err(Refutation::IllFormed(_)));
            assert!(ill_formed, "seed {seed}: {refuted:?}");
            caught += 1;
        }
    }
    assert!(caught > 1_000, "{caught}");
}

#[test]
fn no_witness_survives_the_loss_of_its_access_or_its_stale_write() {
    for (seed, witness) in witnesses() {
        let refuted = check(&without(&witness, witness.access), Model::RC11);
        assert!(refuted.is_err(), "seed {seed}");
        if let Some(&source) = witness.reads_from.get(&witness.access) {
            let refuted = check(&without(&witness, source), Model::RC11);
            let ill_formed = matches!(refuted, Err(Refutation::IllFormed(_)));
            assert!(ill_formed, "seed {seed}: {refuted:?}");
        }
    }
}

#[test]
fn where_all_is_sc_nothing_is_left_to_prove() {
    for (seed, mut witness) in witnesses() {
        witness
            .nodes
            .iter_mut()
            .for_each(|node| strengthen(&mut node.label));
        let refuted = check(&witness, Model::RC11);
        let reasons = matches!(
            refuted,
            Err(Refutation::ScOrder { .. } | Refutation::Coherence { .. })
        );
        assert!(reasons, "seed {seed}: {refuted:?}");
    }
}

#[test]
fn a_stronger_label_never_makes_a_graph_consistent() {
    let mut dice = Dice::new(7);
    let mut refuted = 0;
    for (seed, mut witness) in witnesses() {
        let mut verdict = Ok(());
        for _ in 0..witness.nodes.len() {
            let at = dice.below(witness.nodes.len() as u64) as usize;
            strengthen(&mut witness.nodes[at].label);
            let next = check(&witness, Model::RC11);
            assert!(
                verdict.is_ok() || next.is_err(),
                "seed {seed}: {witness:#?}"
            );
            verdict = next;
        }
        refuted += usize::from(verdict.is_err());
    }
    assert!(refuted > 50, "{refuted}");
}

#[test]
fn a_graph_that_says_other_things_than_the_run_is_foreign() {
    let mut caught = 0;
    for (seed, witness, events) in witnesses_and_runs() {
        assert_eq!(belongs(witness, events), Ok(()), "seed {seed}");
        for (id, node) in witness.iter() {
            let mut changed = witness.clone();
            let label = &mut changed.nodes[id.0].label;
            match label {
                Label::Read { order, .. } => {
                    *order = match *order {
                        LoadOrder::Relaxed => LoadOrder::Acquire,
                        _ => LoadOrder::Relaxed,
                    }
                }
                Label::Write { value, .. } => *value += 1,
                Label::Rmw { guard, .. } => *guard = Guard::Differs(77),
                Label::Fence { order } => *order = other_fence(*order),
                _ => continue,
            }
            if node.event.is_some()
                && !(id == witness.access && matches!(node.label, Label::Write { .. }))
            {
                assert_eq!(
                    belongs(&changed, events),
                    Err(RunMismatch::Event(id)),
                    "seed {seed}"
                );
                caught += 1;
            }
        }
    }
    assert!(caught > 500, "{caught}");
}

#[test]
fn an_event_left_out_is_missed() {
    for (seed, witness, events) in witnesses_and_runs() {
        for (id, node) in witness.iter() {
            let follows = |other: &&Node| {
                other.thread == node.thread
                    && other.position > node.position
                    && other.event.is_some()
            };
            let (Some(thread), Some(event)) = (node.thread, node.event) else {
                continue;
            };
            if witness.nodes.iter().find(follows).is_none() {
                continue;
            }
            // Renumbered, the thread has no gap, and only the run knows better.
            let mut witness = without(witness, id);
            for other in witness
                .nodes
                .iter_mut()
                .filter(|other| other.thread == Some(thread))
            {
                other.position -= u32::from(other.position > node.position);
            }
            let missed = RunMismatch::LeftOut(thread, event);
            assert_eq!(belongs(&witness, events), Err(missed), "seed {seed}");
        }
    }
}

fn other_fence(order: FenceOrder) -> FenceOrder {
    match order {
        FenceOrder::SeqCst => FenceOrder::AcqRel,
        _ => FenceOrder::SeqCst,
    }
}

fn strengthen(label: &mut Label) {
    match label {
        Label::Read { order, .. } => *order = LoadOrder::SeqCst,
        Label::Write { order, .. } => *order = StoreOrder::SeqCst,
        Label::Rmw { order, .. } => *order = RmwOrder::SeqCst,
        Label::Fence { order } => *order = FenceOrder::SeqCst,
        _ => {}
    }
}

/// The graph without a node, and without what names it.
pub(super) fn without(witness: &Witness, gone: NodeId) -> Witness {
    let mut witness = witness.clone();
    let label = witness.nodes.remove(gone.0).label;
    let shift = |id: NodeId| NodeId(id.0 - usize::from(id.0 > gone.0));
    witness.reads_from = (witness.reads_from.iter())
        .filter(|(read, source)| **read != gone && **source != gone)
        .map(|(&read, &source)| (shift(read), shift(source)))
        .collect();
    let orders = witness.modification.values_mut();
    let orders = orders.chain(witness.lock_order.values_mut());
    for order in orders.chain([&mut witness.fence_order]) {
        order.retain(|&id| id != gone);
        order.iter_mut().for_each(|id| *id = shift(*id));
    }
    witness.access = match witness.access == gone {
        true => NodeId(0),
        false => shift(witness.access),
    };
    // A location that nothing accesses any more is not in the graph.
    if let Some(object) = label.object()
        && witness
            .nodes
            .iter()
            .all(|node| node.label.object() != Some(object))
    {
        witness.modification.remove(&object);
    }
    if let Start::Cut { positions, .. } = &mut witness.start {
        let left = |thread| witness.nodes.iter().any(|node| node.thread == Some(thread));
        positions.retain(|&thread, _| left(thread));
    }
    witness
}
