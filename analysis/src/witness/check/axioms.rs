//! The axioms, one function each. The names are the papers': sw, hb, eco, psc.

use std::collections::BTreeMap;

use super::Refutation;
use super::edges::Edges;
use super::relation::{Relation, Set};
use crate::model::Model;
use crate::witness::graph::{Label, NodeId, Witness};

/// Whether the memory model allows the graph.
pub(super) fn consistent(witness: &Witness, edges: &Edges, model: Model) -> Result<(), Refutation> {
    atomicity(witness)?;
    let hb = happens_before(witness, edges)?;
    thin_air(edges)?;
    let eco = extended_coherence(edges)?;
    coherence(&hb, &eco)?;
    match model {
        Model::Rc11 => sc_order(witness, edges, &hb, &eco),
        // RC20's SC events are ordered by the fences' own order, which is in hb.
        Model::Rc20 => Ok(()),
    }
}

/// Whether no interleaving has the graph: po ∪ rf ∪ mo ∪ fr has a cycle.
pub(super) fn not_sequential(edges: &Edges) -> Result<(), Refutation> {
    let parts = [&edges.po, &edges.rf, &edges.mo, &edges.fr, &edges.sync];
    match Relation::union(edges.nodes, parts).last_first() {
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

/// hb = (po ∪ sw ∪ synchronisation)⁺, irreflexive.
fn happens_before(witness: &Witness, edges: &Edges) -> Result<Relation, Refutation> {
    let sw = synchronises_with(witness, edges);
    Relation::union(edges.nodes, [&edges.po, &sw, &edges.sync])
        .closure()
        .map_err(|cycle| Refutation::HappensBefore {
            cycle: names(cycle),
        })
}

/// `sw = [rel]; ([F]; po)?; rf⁺; (po; [F])?; [acq]`, where rf⁺ can only go
/// through RMWs. Of several fences only those nearest to the accesses are taken:
/// po gives hb the rest.
fn synchronises_with(witness: &Witness, edges: &Edges) -> Relation {
    let label = |node: usize| witness.nodes[node].label;
    let nodes = edges.nodes;
    let mut release: Vec<Option<usize>> = vec![None; nodes];
    let mut acquire: Vec<Option<usize>> = vec![None; nodes];
    for thread in edges.threads.values() {
        let mut fence = None;
        for &node in thread {
            if label(node).is_fence() && label(node).releases() {
                fence = Some(node);
            }
            release[node] = if label(node).releases() {
                Some(node)
            } else {
                fence
            };
        }
        fence = None;
        for &node in thread.iter().rev() {
            if label(node).is_fence() && label(node).acquires() {
                fence = Some(node);
            }
            acquire[node] = if label(node).acquires() {
                Some(node)
            } else {
                fence
            };
        }
    }
    // A release write after a release fence needs no edge from the fence: the
    // write's own edge and po give it. The same on the acquiring side.
    let mut sw = Relation::empty(nodes);
    for order in witness.modification.values() {
        let mut sequence = Set::empty(nodes);
        for write in order {
            // An RMW follows its source directly (atomicity), so the release
            // sequences it continues are those of the write before it.
            if !label(write.0).is_rmw() {
                sequence = Set::empty(nodes);
            }
            if let Some(head) = release[write.0] {
                sequence.insert(head);
            }
            for reader in edges.rf.row(write.0).iter() {
                if let Some(tail) = acquire[reader] {
                    for head in sequence.iter() {
                        sw.insert(head, tail);
                    }
                }
            }
        }
    }
    sw
}

/// po ∪ rf is acyclic.
fn thin_air(edges: &Edges) -> Result<(), Refutation> {
    let parts = [&edges.po, &edges.rf, &edges.sync];
    match Relation::union(edges.nodes, parts).last_first() {
        Ok(_) => Ok(()),
        Err(cycle) => Err(Refutation::ThinAir {
            cycle: names(cycle),
        }),
    }
}

/// eco = (rf ∪ mo ∪ fr)⁺. Where rf and mo are well formed and RMWs are atomic
/// it has no cycle; were there one, it would be one of coherence.
fn extended_coherence(edges: &Edges) -> Result<Relation, Refutation> {
    Relation::union(edges.nodes, [&edges.rf, &edges.mo, &edges.fr])
        .closure()
        .map_err(|cycle| Refutation::Coherence {
            earlier: NodeId(cycle[0]),
            later: NodeId(cycle[cycle.len() - 1]),
        })
}

/// hb; eco is irreflexive.
fn coherence(hb: &Relation, eco: &Relation) -> Result<(), Refutation> {
    match eco.pairs().find(|&(later, earlier)| hb.has(earlier, later)) {
        None => Ok(()),
        Some((later, earlier)) => Err(Refutation::Coherence {
            earlier: NodeId(earlier),
            later: NodeId(later),
        }),
    }
}

/// psc is acyclic, where
///
/// ```text
/// scb      = po ∪ po≠loc; hb; po≠loc ∪ hb=loc ∪ mo ∪ fr
/// psc_base = ([SC access] ∪ [SC fence]; hb?); scb; ([SC access] ∪ hb?; [SC fence])
/// psc_F    = [SC fence]; (hb ∪ hb; eco; hb); [SC fence]
/// psc      = psc_base ∪ psc_F
/// ```
///
/// What is no access has no location and counts as elsewhere.
fn sc_order(
    witness: &Witness,
    edges: &Edges,
    hb: &Relation,
    eco: &Relation,
) -> Result<(), Refutation> {
    let nodes = edges.nodes;
    let accesses = nodes_that(witness, Label::is_sc_access);
    let fences = nodes_that(witness, Label::is_sc_fence);
    if accesses.is_empty() && fences.is_empty() {
        return Ok(());
    }
    let object = |node: usize| witness.nodes[node].label.object();
    let mut here = BTreeMap::new();
    for node in 0..nodes {
        if let Some(object) = object(node) {
            let set = here.entry(object).or_insert_with(|| Set::empty(nodes));
            set.insert(node);
        }
    }
    let same = |node: usize| object(node).and_then(|object| here.get(&object));
    let elsewhere = edges.po.with_rows(|from, row| {
        if let Some(here) = same(from) {
            row.subtract(here);
        }
    });
    let hb_here = hb.with_rows(|from, row| match same(from) {
        Some(here) => row.intersect(here),
        None => *row = Set::empty(nodes),
    });

    let mut psc = Relation::empty(nodes);
    let mut events = accesses.clone();
    events.unite(&fences);
    for event in events.iter() {
        let mut from = Set::empty(nodes);
        from.insert(event);
        if fences.has(event) {
            from.unite(hb.row(event));
        }

        let mut scb = elsewhere.image(&hb.image(&elsewhere.image(&from)));
        for part in [&edges.po, &hb_here, &edges.mo, &edges.fr] {
            scb.unite(&part.image(&from));
        }

        let mut to_fences = hb.image(&scb);
        to_fences.unite(&scb);
        if fences.has(event) {
            to_fences.unite(hb.row(event));
            to_fences.unite(&hb.image(&eco.image(hb.row(event))));
        }
        to_fences.intersect(&fences);
        scb.intersect(&accesses);
        for to in scb.iter().chain(to_fences.iter()) {
            psc.insert(event, to);
        }
    }
    match psc.last_first() {
        Ok(_) => Ok(()),
        Err(cycle) => Err(Refutation::ScOrder {
            cycle: names(cycle),
        }),
    }
}

fn nodes_that(witness: &Witness, condition: impl Fn(&Label) -> bool) -> Set {
    let mut set = Set::empty(witness.nodes.len());
    for (id, node) in witness.iter() {
        if condition(&node.label) {
            set.insert(id.0);
        }
    }
    set
}

fn names(nodes: Vec<usize>) -> Vec<NodeId> {
    nodes.into_iter().map(NodeId).collect()
}
