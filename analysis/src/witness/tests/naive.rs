//! The axioms once more, read word for word over sets of pairs: no nearest
//! neighbours, no shortcuts for release sequences, no stages.

use super::pairs::Pairs;
use crate::event::LockMode;
use crate::model::{Model, ReleaseSequences};
use crate::witness::{Label, Witness};

/// What a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Inconsistent,
    Sequential,
    Witness,
}

/// What a well-formed graph is.
pub(super) fn verdict(witness: &Witness, model: Model) -> Verdict {
    let graph = Graph::of(witness, model);
    if !graph.consistent(model) {
        Verdict::Inconsistent
    } else if (graph.all(&[&graph.po, &graph.rf, &graph.mo, &graph.fr, &graph.sync]))
        .is_irreflexive()
    {
        Verdict::Sequential
    } else {
        Verdict::Witness
    }
}

struct Graph {
    labels: Vec<Label>,
    po: Pairs,
    rf: Pairs,
    mo: Pairs,
    fr: Pairs,
    sync: Pairs,
}

impl Graph {
    fn of(witness: &Witness, model: Model) -> Self {
        let nodes = witness.nodes.len();
        let node = |n: usize| &witness.nodes[n];
        let every = |holds: &dyn Fn(usize, usize) -> bool| -> Pairs {
            let all = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
            Pairs::of(nodes, all.filter(|&(a, b)| a != b && holds(a, b)))
        };
        let after = |order: &[crate::witness::NodeId], a: usize, b: usize| {
            let object = |n: usize| order.iter().position(|id| id.0 == n);
            matches!((object(a), object(b)), (Some(a), Some(b)) if a < b)
        };
        let po = every(&|a, b| match (node(a).thread, node(b).thread) {
            (None, Some(_)) => true,
            (Some(one), Some(two)) => one == two && node(a).position < node(b).position,
            _ => false,
        });
        let mo = every(&|a, b| {
            let object = node(a).label.object();
            let order = object.and_then(|object| witness.modification.get(&object));
            order.is_some_and(|order| after(order, a, b))
        });
        let sources = || witness.reads_from.iter();
        let rf = Pairs::of(nodes, sources().map(|(r, w)| (w.0, r.0)));
        let inverse = Pairs::of(nodes, sources().map(|(r, w)| (r.0, w.0)));
        let fr = inverse.then(&mo).only(|a, b| a != b);
        let sync = every(&|a, b| match (node(a).label, node(b).label) {
            (Label::Create { child }, Label::Start) => node(b).thread == Some(child),
            (Label::Exit, Label::Join { child }) => node(a).thread == Some(child),
            (Label::Release { lock, mode: given }, Label::Acquire { mode: taken, .. }) => {
                use LockMode::{Exclusive, Shared, Signal};
                let pairs = [
                    (Exclusive, Exclusive),
                    (Exclusive, Shared),
                    (Shared, Exclusive),
                ];
                let ordered = after(&witness.lock_order[&lock], a, b);
                ordered && (pairs.contains(&(given, taken)) || (given, taken) == (Signal, Signal))
            }
            _ => model.orders_fences() && after(&witness.fence_order, a, b),
        });
        Self {
            labels: witness.nodes.iter().map(|node| node.label).collect(),
            po,
            rf,
            mo,
            fr,
            sync,
        }
    }

    fn all(&self, parts: &[&Pairs]) -> Pairs {
        parts[0].union(parts[1..].iter().copied()).closure()
    }

    fn consistent(&self, model: Model) -> bool {
        let atomic = (self.fr.iter())
            .all(|(rmw, between)| !self.labels[rmw].is_rmw() || !self.mo.contains((between, rmw)));
        let overtaken = (self.rf.iter())
            .any(|(write, read)| self.labels[read].is_rmw() && !self.mo.contains((write, read)));
        let hb = self.all(&[&self.po, &self.sw(model.release_sequences), &self.sync]);
        let eco = self.all(&[&self.rf, &self.mo, &self.fr]);
        let thin_air = !(self.all(&[&self.po, &self.rf, &self.sync])).is_irreflexive();
        let coherent = eco.is_irreflexive() && hb.then(&eco).is_irreflexive();
        let ordered = model.orders_fences() || self.psc(&hb, &eco).closure().is_irreflexive();
        atomic && !overtaken && hb.is_irreflexive() && !thin_air && coherent && ordered
    }

    /// [rel]; ([F]; po)?; rs; rf; (po; [F])?; [acq]
    fn sw(&self, rule: ReleaseSequences) -> Pairs {
        let fence = |n: usize| self.labels[n].is_fence();
        let sequence = match rule {
            // What rf leads to through RMWs.
            ReleaseSequences::Cxx20 => self.rf.closure(),
            ReleaseSequences::Cxx17 => self.rf.union([&self.contiguous().then(&self.rf)]),
        };
        let left = self.po.only(|from, _| fence(from));
        let right = self.po.only(|_, to| fence(to));
        let sw = sequence.union([&left.then(&sequence)]);
        let sw = sw.union([&sw.then(&right)]);
        sw.only(|from, to| self.labels[from].releases() && self.labels[to].acquires())
    }

    /// From a write to those after it in mo, if all up to there are RMWs or of its thread.
    fn contiguous(&self) -> Pairs {
        let same = |a: usize, b: usize| self.po.contains((a, b)) || self.po.contains((b, a));
        let writes = |n: usize| self.labels[n].writes();
        self.mo.only(|head, last| {
            let between = |n: &usize| *n == last || self.mo.contains((*n, last));
            let after = (0..self.labels.len()).filter(|n| self.mo.contains((head, *n)));
            (after.filter(between)).all(|n| writes(n) && (self.labels[n].is_rmw() || same(head, n)))
        })
    }

    fn psc(&self, hb: &Pairs, eco: &Pairs) -> Pairs {
        let object = |n: usize| self.labels[n].object();
        let same = |a: usize, b: usize| object(a).is_some() && object(a) == object(b);
        let elsewhere = self.po.only(|a, b| !same(a, b));
        let scb = (elsewhere.then(hb).then(&elsewhere)).union([
            &hb.only(same),
            &self.po,
            &self.mo,
            &self.fr,
        ]);
        let fence = |n: usize| self.labels[n].is_sc_fence();
        let event = |n: usize| fence(n) || self.labels[n].is_sc_access();
        let base = scb.union([&hb.only(|from, _| fence(from)).then(&scb)]);
        let base = base.union([&base.then(&hb.only(|_, to| fence(to)))]);
        let fences = hb.union([&hb.then(eco).then(hb)]);
        (base.only(|from, to| event(from) && event(to)))
            .union([&fences.only(|from, to| fence(from) && fence(to))])
    }
}
