//! The axioms once more, read word for word over sets of pairs: no nearest
//! fences, no shortcuts for release sequences, no rows of bits.

use std::collections::BTreeSet;

use crate::event::LockMode;
use crate::model::Model;
use crate::witness::{Label, Witness};

type Pairs = BTreeSet<(usize, usize)>;

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
    } else if acyclic(&graph.all(&[&graph.po, &graph.rf, &graph.mo, &graph.fr, &graph.sync])) {
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
        let all = || 0..witness.nodes.len();
        let node = |n: usize| &witness.nodes[n];
        let every = |holds: &dyn Fn(usize, usize) -> bool| -> Pairs {
            all()
                .flat_map(|a| all().map(move |b| (a, b)))
                .filter(|&(a, b)| a != b && holds(a, b))
                .collect()
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
            witness
                .modification
                .values()
                .any(|order| after(order, a, b))
        });
        let rf: Pairs = witness.reads_from.iter().map(|(r, w)| (w.0, r.0)).collect();
        let inverse: Pairs = rf.iter().map(|&(w, r)| (r, w)).collect();
        let mut fr = compose(&inverse, &mo);
        fr.retain(|(a, b)| a != b);
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
            _ => model == Model::Rc20 && after(&witness.fence_order, a, b),
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
        closure(parts.iter().flat_map(|part| part.iter().copied()).collect())
    }

    fn consistent(&self, model: Model) -> bool {
        let atomic = (self.fr.iter()).all(|&(rmw, between)| {
            !self.labels[rmw].is_rmw() || !self.mo.contains(&(between, rmw))
        });
        let overtaken = (self.rf.iter())
            .any(|&(write, read)| self.labels[read].is_rmw() && !self.mo.contains(&(write, read)));
        let hb = self.all(&[&self.po, &self.sw(), &self.sync]);
        let eco = self.all(&[&self.rf, &self.mo, &self.fr]);
        let thin_air = !acyclic(&self.all(&[&self.po, &self.rf, &self.sync]));
        let coherent = acyclic(&eco) && compose(&hb, &eco).iter().all(|(a, b)| a != b);
        let ordered = model == Model::Rc20 || acyclic(&closure(self.psc(&hb, &eco)));
        atomic && !overtaken && acyclic(&hb) && !thin_air && coherent && ordered
    }

    /// [rel]; ([F]; po)?; rf⁺; (po; [F])?; [acq]
    fn sw(&self) -> Pairs {
        let fence = |n: &usize| self.labels[*n].is_fence();
        let sequence = closure(self.rf.clone());
        let left = self.restrict(&self.po, fence, |_| true);
        let right = self.restrict(&self.po, |_| true, fence);
        let mut sw = sequence.clone();
        sw.extend(compose(&left, &sequence));
        let reached = compose(&sw, &right);
        sw.extend(reached);
        self.restrict(
            &sw,
            |n| self.labels[*n].releases(),
            |n| self.labels[*n].acquires(),
        )
    }

    fn psc(&self, hb: &Pairs, eco: &Pairs) -> Pairs {
        let object = |n: usize| self.labels[n].object();
        let same = |&(a, b): &(usize, usize)| object(a).is_some() && object(a) == object(b);
        let elsewhere: Pairs = self.po.iter().copied().filter(|pair| !same(pair)).collect();
        let mut scb = compose(&compose(&elsewhere, hb), &elsewhere);
        scb.extend(hb.iter().copied().filter(same));
        for part in [&self.po, &self.mo, &self.fr] {
            scb.extend(part);
        }
        let fence = |n: &usize| self.labels[*n].is_sc_fence();
        let event = |n: &usize| fence(n) || self.labels[*n].is_sc_access();
        let mut base = scb.clone();
        base.extend(compose(&self.restrict(hb, fence, |_| true), &scb));
        let reached = compose(&base, &self.restrict(hb, |_| true, fence));
        base.extend(reached);
        let mut psc = self.restrict(&base, event, event);
        let mut fences = compose(&compose(hb, eco), hb);
        fences.extend(hb);
        psc.extend(self.restrict(&fences, fence, fence));
        psc
    }

    fn restrict(
        &self,
        pairs: &Pairs,
        from: impl Fn(&usize) -> bool,
        to: impl Fn(&usize) -> bool,
    ) -> Pairs {
        let kept = pairs.iter().filter(|(a, b)| from(a) && to(b));
        kept.copied().collect()
    }
}

fn compose(left: &Pairs, right: &Pairs) -> Pairs {
    (left.iter())
        .flat_map(|&(a, b)| right.range((b, 0)..(b + 1, 0)).map(move |&(_, c)| (a, c)))
        .collect()
}

fn closure(pairs: Pairs) -> Pairs {
    let mut closure = pairs;
    loop {
        let more = compose(&closure, &closure);
        let before = closure.len();
        closure.extend(more);
        if closure.len() == before {
            return closure;
        }
    }
}

fn acyclic(closed: &Pairs) -> bool {
    closed.iter().all(|(a, b)| a != b)
}
