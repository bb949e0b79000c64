//! The axioms, one function each. The names are the papers': sw, hb, eco, psc.

use std::collections::BTreeMap;

use super::Refutation;
use super::edges::Edges;
use super::past::Past;
use super::sc_order::sc_order;
use super::uses::{self, Uses};
use crate::model::{Model, ReleaseSequences, SeqCst};
use crate::witness::digraph::EdgeList;
use crate::witness::graph::{NodeId, Witness};

/// Whether the memory model allows the graph.
pub(super) fn consistent(witness: &Witness, edges: &Edges, model: Model) -> Result<(), Refutation> {
    atomicity(witness)?;
    let hb = with_synchronises_with(witness, edges, model.release_sequences);
    let last_first = (hb.forward().last_first()).map_err(|cycle| Refutation::HappensBefore {
        cycle: names(edges, &cycle),
    })?;
    thin_air(edges)?;
    let past = Past::of(edges, &hb, &last_first)
        .map_err(|_| Refutation::TooLarge { nodes: edges.nodes })?;
    let uses = Uses::of(edges);
    coherence(edges, &past, &uses)?;
    match model.seq_cst {
        SeqCst::Rc11 => sc_order(witness, edges, &hb, &past, &uses),
        // RC20's SC events are ordered by the fences' own order, which is in hb.
        SeqCst::Rc20 => Ok(()),
    }
}

/// Whether no interleaving has the graph: po ∪ rf ∪ mo ∪ fr has a cycle.
pub(super) fn not_sequential(edges: &Edges) -> Result<(), Refutation> {
    let mut all = with_reads_from(edges);
    for node in 0..edges.nodes {
        // mo, and fr of what only reads.
        all.add_some(Some(node), edges.newer(node));
    }
    match all.forward().last_first() {
        Ok(_) => Err(Refutation::IsSequentiallyConsistent),
        Err(_) => Ok(()),
    }
}

/// An RMW directly follows the write it reads from.
fn atomicity(witness: &Witness) -> Result<(), Refutation> {
    for order in witness.modification.values() {
        for (at, &write) in order.iter().enumerate() {
            if !witness.node(write).label.is_rmw() {
                continue;
            }
            let source = witness.reads_from.get(&write);
            let before = at.checked_sub(1).map(|before| &order[before]);
            if source != before {
                let follower = source
                    .and_then(|source| order.iter().position(|id| id == source))
                    .and_then(|source| order.get(source + 1));
                return Err(Refutation::Atomicity {
                    rmw: write,
                    between: follower.copied().unwrap_or(write),
                });
            }
        }
    }
    Ok(())
}

/// hb = (po ∪ sw ∪ synchronisation)⁺, not closed yet, where
/// `sw = [rel]; ([F]; po)?; rs; rf; (po; [F])?; [acq]`. Of several fences only those
/// nearest to the accesses are taken: po gives hb the rest.
fn with_synchronises_with(witness: &Witness, edges: &Edges, rule: ReleaseSequences) -> EdgeList {
    let (release, acquire) = (releases(witness, edges), acquires(witness, edges));
    let mut hb = edges.ordered.clone();
    for order in &edges.modification {
        let mut heads = Heads::default();
        for &write in order {
            // An RMW follows its source directly (atomicity), so the release
            // sequences it continues are those of the write before it.
            let thread = edges.place(write).map(|place| place.thread);
            if !witness.nodes[write].label.is_rmw() {
                heads.end_at_store(thread, rule);
            }
            heads.add(&mut hb, thread, release[write]);
            for reader in edges.rf.at(write) {
                hb.add_some(heads.all, acquire[reader]);
            }
        }
    }
    hb
}

/// What stands for the heads of the release sequences that a write is in.
#[derive(Default)]
struct Heads {
    all: Option<usize>,
    /// Those of each thread.
    by_thread: BTreeMap<usize, usize>,
}

impl Heads {
    /// A store of a thread: C++17 leaves it the sequences with heads of the same thread,
    /// C++20 none.
    fn end_at_store(&mut self, thread: Option<usize>, rule: ReleaseSequences) {
        let own = thread.and_then(|thread| Some((thread, self.by_thread.remove(&thread)?)));
        self.by_thread.clear();
        self.all = None;
        if let (ReleaseSequences::Cxx17, Some((thread, heads))) = (rule, own) {
            self.by_thread.insert(thread, heads);
            self.all = Some(heads);
        }
    }

    /// A head of a new sequence.
    fn add(&mut self, hb: &mut EdgeList, thread: Option<usize>, head: Option<usize>) {
        let (Some(thread), Some(head)) = (thread, head) else {
            return;
        };
        // Where no other thread has any, one vertex stands for both.
        let is_alone = self.by_thread.keys().all(|&other| other == thread);
        let own = hb.after_both(self.by_thread.get(&thread).copied(), Some(head));
        self.all = match is_alone {
            true => own,
            false => hb.after_both(self.all, Some(head)),
        };
        self.by_thread.extend(own.map(|own| (thread, own)));
    }
}

/// What releases by a write of the node: the node itself, or the last release fence
/// before it. A release write after a release fence needs no edge from the fence:
/// the write's own edge and po give it.
fn releases(witness: &Witness, edges: &Edges) -> Vec<Option<usize>> {
    let mut release = vec![None; edges.nodes];
    for thread in &edges.threads {
        let mut fence = None;
        for &node in thread {
            let label = witness.nodes[node].label;
            if label.is_fence() && label.releases() {
                fence = Some(node);
            }
            release[node] = if label.releases() { Some(node) } else { fence };
        }
    }
    release
}

/// What acquires by a read of the node, in the same way.
fn acquires(witness: &Witness, edges: &Edges) -> Vec<Option<usize>> {
    let mut acquire = vec![None; edges.nodes];
    for thread in &edges.threads {
        let mut fence = None;
        for &node in thread.iter().rev() {
            let label = witness.nodes[node].label;
            if label.is_fence() && label.acquires() {
                fence = Some(node);
            }
            acquire[node] = if label.acquires() { Some(node) } else { fence };
        }
    }
    acquire
}

/// po ∪ rf is acyclic.
fn thin_air(edges: &Edges) -> Result<(), Refutation> {
    match with_reads_from(edges).forward().last_first() {
        Ok(_) => Ok(()),
        Err(cycle) => Err(Refutation::ThinAir {
            cycle: names(edges, &cycle),
        }),
    }
}

fn with_reads_from(edges: &Edges) -> EdgeList {
    let mut with = edges.ordered.clone();
    for write in 0..edges.nodes {
        for read in edges.rf.at(write) {
            with.add(write, read);
        }
    }
    with
}

/// hb; eco is irreflexive, where eco = (rf ∪ mo ∪ fr)⁺. Where rf and mo are well
/// formed and RMWs are atomic, eco is the order of the [`rank`]s of a location. Of
/// the accesses of a thread that are before one in hb, the one of the highest rank
/// decides.
fn coherence(edges: &Edges, past: &Past, uses: &Uses) -> Result<(), Refutation> {
    for object in 0..edges.modification.len() {
        let users: Vec<&[usize]> = uses.of_object(object).collect();
        for &own in &users {
            let highest = running_highest(edges, own);
            for &later in users.iter().copied().flatten() {
                let before = uses::before(own, later, past, edges);
                let earlier = before.checked_sub(1).map(|last| highest[last]);
                if let Some(earlier) = earlier
                    && rank(edges, earlier) > rank(edges, later)
                {
                    return Err(Refutation::Coherence {
                        earlier: NodeId(earlier),
                        later: NodeId(later),
                    });
                }
            }
        }
    }
    Ok(())
}

/// A write is before what reads it, and that before the next write.
fn rank(edges: &Edges, node: usize) -> Option<(usize, bool)> {
    let access = edges.access(node)?;
    Some((access.write, !access.writes))
}

/// For each of these accesses the one of the highest rank up to it.
fn running_highest(edges: &Edges, own: &[usize]) -> Vec<usize> {
    let highest = own.iter().scan(own[0], |highest, &node| {
        if rank(edges, node) > rank(edges, *highest) {
            *highest = node;
        }
        Some(*highest)
    });
    highest.collect()
}

/// The nodes of a cycle: of those that follow each other in a thread, the first and
/// the last.
fn names(edges: &Edges, cycle: &[usize]) -> Vec<NodeId> {
    let nodes: Vec<usize> = cycle.iter().copied().filter(|&v| v < edges.nodes).collect();
    let thread = |at: usize| {
        edges
            .place(nodes[at % nodes.len()])
            .map(|place| place.thread)
    };
    let turns = |at: &usize| {
        let before = thread(at + nodes.len() - 1);
        before != thread(*at) || thread(*at) != thread(at + 1)
    };
    let turning: Vec<NodeId> = (0..nodes.len())
        .filter(turns)
        .map(|at| NodeId(nodes[at]))
        .collect();
    match turning.is_empty() {
        true => nodes.into_iter().map(NodeId).collect(),
        false => turning,
    }
}
