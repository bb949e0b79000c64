//! RC11's order of the SC events: psc is acyclic, where
//!
//! ```text
//! scb      = po ∪ po≠loc; hb; po≠loc ∪ hb=loc ∪ mo ∪ fr
//! psc_base = ([SC access] ∪ [SC fence]; hb?); scb; ([SC access] ∪ hb?; [SC fence])
//! psc_F    = [SC fence]; (hb ∪ hb; eco; hb); [SC fence]
//! psc      = psc_base ∪ psc_F
//! ```
//!
//! What is no access has no location and counts as elsewhere. The pairs of psc are
//! too many to be listed, so they are walked: a [`Stage`] says how far along one of
//! these words the walk is when it is at a node. The only way from the last stage to
//! the first is through an SC event, and no stage has a cycle of its own, so there is
//! a cycle of stages if and only if there is one of psc.

use super::Refutation;
use super::edges::Edges;
use super::past::Past;
use super::uses::{Uses, first_after};
use crate::witness::digraph::{Digraph, EdgeList, walk};
use crate::witness::graph::{Label, NodeId, Witness};

/// How far along a word of psc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// At an SC event.
    Event,
    /// Where scb begins.
    ScbBegins,
    /// In scb, after a step of po.
    ProgramOrder,
    /// In scb, after po≠loc; hb.
    Elsewhere,
    /// In scb, after a step of mo or fr.
    Newer,
    /// In scb, after a step of hb=loc.
    Here,
    /// Where scb ends.
    ScbEnds,
    /// In hb?, towards an SC fence.
    TowardsFence,
    /// In hb, after an SC fence.
    AfterFence,
    /// In eco of psc_F: this write, newer ones and what reads them.
    EcoOnwards,
    /// Where eco of psc_F ends.
    EcoEnds,
}

const STAGES: [Stage; 11] = [
    Stage::Event,
    Stage::ScbBegins,
    Stage::ProgramOrder,
    Stage::Elsewhere,
    Stage::Newer,
    Stage::Here,
    Stage::ScbEnds,
    Stage::TowardsFence,
    Stage::AfterFence,
    Stage::EcoOnwards,
    Stage::EcoEnds,
];

/// Whether the SC events have an order.
pub(super) fn sc_order(
    witness: &Witness,
    edges: &Edges,
    hb: &EdgeList,
    past: &Past,
    uses: &Uses,
) -> Result<(), Refutation> {
    let is_event = |node: &usize| {
        let label = witness.nodes[*node].label;
        label.is_sc_access() || label.is_sc_fence()
    };
    let events: Vec<usize> = (0..edges.nodes).filter(is_event).collect();
    if events.is_empty() {
        return Ok(());
    }
    let words = Words {
        witness,
        edges,
        hb: hb.forward(),
        width: hb.vertices(),
        past,
        uses,
        elsewhere: elsewhere(edges),
        has_fences: witness.nodes.iter().any(|node| node.label.is_sc_fence()),
    };
    let vertices = words.width * STAGES.len();
    walk(vertices, events, |at, to| words.lead_on(at, to), |_| {}).map_err(|cycle| {
        // The vertices of the first stage have the numbers of their nodes.
        let events = cycle.into_iter().filter(|&at| at < words.width);
        Refutation::ScOrder {
            cycle: events.map(NodeId).collect(),
        }
    })
}

/// The words of psc over a graph.
struct Words<'a> {
    witness: &'a Witness,
    edges: &'a Edges,
    hb: Digraph,
    /// How many vertices hb has: the vertices of the walk are these for each stage.
    width: usize,
    past: &'a Past,
    uses: &'a Uses,
    /// The next node of the same thread that is elsewhere.
    elsewhere: Vec<Option<usize>>,
    has_fences: bool,
}

/// Where a vertex of the walk leads, as a list that grows.
struct Steps<'a> {
    to: &'a mut Vec<usize>,
    width: usize,
}

impl Steps<'_> {
    fn add(&mut self, stage: Stage, nodes: impl IntoIterator<Item = usize>) {
        let first = stage as usize * self.width;
        self.to.extend(nodes.into_iter().map(|node| first + node));
    }
}

impl Words<'_> {
    /// Lists where a vertex of the walk leads.
    fn lead_on(&self, vertex: usize, to: &mut Vec<usize>) {
        let (stage, at) = (STAGES[vertex / self.width], vertex % self.width);
        let width = self.width;
        let mut steps = Steps { to, width };
        match stage {
            Stage::Event => {
                steps.add(Stage::ScbBegins, [at]);
                if self.is_fence(at) {
                    steps.add(Stage::AfterFence, self.hb.at(at));
                }
            }
            Stage::ScbBegins => self.begin_scb(at, &mut steps),
            Stage::ProgramOrder => {
                steps.add(Stage::ScbEnds, [at]);
                steps.add(Stage::ProgramOrder, self.edges.next(at));
            }
            Stage::Elsewhere => {
                steps.add(Stage::Elsewhere, self.hb.at(at));
                steps.add(Stage::ScbEnds, self.last_steps(at));
            }
            Stage::Newer => {
                steps.add(Stage::ScbEnds, [at]);
                steps.add(Stage::Newer, self.edges.newer(at));
            }
            Stage::Here => {
                steps.add(Stage::ScbEnds, [at]);
                steps.add(Stage::Here, self.uses.next(self.edges, at));
            }
            Stage::ScbEnds => {
                let is_access = self.label(at).is_some_and(|label| label.is_sc_access());
                steps.add(Stage::Event, is_access.then_some(at));
                steps.add(Stage::TowardsFence, self.has_fences.then_some(at));
            }
            Stage::TowardsFence => {
                steps.add(Stage::Event, self.is_fence(at).then_some(at));
                steps.add(Stage::TowardsFence, self.hb.at(at));
            }
            Stage::AfterFence => {
                steps.add(Stage::Event, self.is_fence(at).then_some(at));
                steps.add(Stage::AfterFence, self.hb.at(at));
                steps.add(Stage::ScbBegins, self.label(at).map(|_| at));
                self.begin_eco(at, &mut steps);
            }
            Stage::EcoOnwards => {
                steps.add(Stage::EcoEnds, [at]);
                self.begin_eco(at, &mut steps);
            }
            Stage::EcoEnds => steps.add(Stage::TowardsFence, self.hb.at(at)),
        }
    }

    /// The first steps of scb from a node.
    fn begin_scb(&self, node: usize, steps: &mut Steps<'_>) {
        let edges = self.edges;
        steps.add(Stage::ProgramOrder, edges.next(node));
        // Of the later nodes of the thread that are elsewhere, the first is before
        // the others, so hb from it has all that hb from them has.
        if let Some(first) = self.elsewhere[node] {
            steps.add(Stage::Elsewhere, self.hb.at(first));
        }
        steps.add(Stage::Newer, edges.newer(node));
        // In its own thread, hb=loc is po.
        let Some((access, own)) = edges.access(node).zip(edges.place(node)) else {
            return;
        };
        for others in self.uses.of_object(access.object) {
            let place = edges.place(others[0]);
            if place.is_some_and(|place| place.thread != own.thread) {
                let first = first_after(others, node, self.past, edges);
                steps.add(Stage::Here, first);
            }
        }
    }

    /// Where po≠loc leads after hb to this node, but not from an earlier one: the
    /// last node of the thread that is elsewhere is after the others, so hb to it
    /// has all that hb to them has.
    fn last_steps(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let edges = self.edges;
        let first = edges.next(vertex);
        let first = first.filter(|&next| !edges.same_object(vertex, next));
        std::iter::successors(first, move |&end| {
            edges.next(end).filter(|&next| edges.same_object(end, next))
        })
    }

    /// What eco leads to: who reads the write, and the writes that are newer.
    fn begin_eco(&self, vertex: usize, steps: &mut Steps<'_>) {
        let Some(access) = self.edges.access(vertex) else {
            return;
        };
        if access.writes {
            steps.add(Stage::EcoEnds, self.edges.rf.at(vertex));
        }
        steps.add(Stage::EcoOnwards, self.edges.newer(vertex));
    }

    /// What a vertex is, if it is a node.
    fn label(&self, vertex: usize) -> Option<Label> {
        self.witness.nodes.get(vertex).map(|node| node.label)
    }

    fn is_fence(&self, vertex: usize) -> bool {
        self.label(vertex).is_some_and(|label| label.is_sc_fence())
    }
}

fn elsewhere(edges: &Edges) -> Vec<Option<usize>> {
    let mut elsewhere = vec![None; edges.nodes];
    for &node in edges.threads.iter().flat_map(|own| own.iter().rev()) {
        let next = edges.next(node);
        elsewhere[node] = match next {
            Some(next) if edges.same_object(node, next) => elsewhere[next],
            next => next,
        };
    }
    elsewhere
}
