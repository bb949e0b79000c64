//! Which machines can show a witness: decided on the graph by the axioms of TSO
//! and of a multi-copy-atomic model. Instructions are taken as compilers map C11 to
//! them, one for one; what a compiler itself may reorder is not considered, so a
//! witness that no machine shows may still happen. Must not know how the graph was
//! found.
//!
//! TSO: "A Better x86 Memory Model: x86-TSO" (Owens, Sarkar, Sewell, TPHOLs 2009,
//! <https://doi.org/10.1007/978-3-642-03359-9_27>). AArch64: "Simplifying ARM
//! Concurrency" (Pulte, Flur, Deacon, French, Sarkar, Sewell, POPL 2018,
//! <https://doi.org/10.1145/3158107>), without dependencies, which a witness does
//! not know: it may say that AArch64 shows what a dependency forbids. Acquire loads
//! are LDAPR, SC loads LDAR, release and SC stores STLR, read-modify-writes single
//! instructions; an acquire fence is DMB ISHLD, every other fence DMB ISH. Thread
//! starts and ends and locks are full barriers on both.

use std::collections::BTreeMap;

use super::digraph::EdgeList;
use crate::event::{Event, Operation, ThreadId};
use crate::witness::graph::{Label, NodeId, Witness};

/// A kind of machine, the most ordered first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Machine {
    /// x86-64: only a store and a later load change places.
    X86_64,
    /// AArch64: much changes places, but a write reaches all others at once.
    AArch64,
    /// What C11 allows beyond that, and POWER shows in part.
    C11,
}

/// The machines that can show the graph. `events` is the stream that it is from.
pub fn machines(witness: &Witness, events: &[Event]) -> Vec<Machine> {
    let halves = Halves::of(witness, events);
    let mut shown = Vec::new();
    if halves.is_acyclic(Halves::keep_as_x86_64) {
        shown.push(Machine::X86_64);
    }
    if halves.is_acyclic(Halves::keep_as_aarch64) {
        shown.push(Machine::AArch64);
    }
    shown.push(Machine::C11);
    shown
}

/// What a machine does for one node: the read of a read-modify-write and its write
/// are two.
#[derive(Clone, Copy, Debug)]
struct Half {
    node: usize,
    thread: Option<ThreadId>,
    reads: bool,
    writes: bool,
    /// LDAPR, LDAR or the read of an acquiring read-modify-write.
    acquires: bool,
    /// As before, but not LDAPR: it comes after earlier releases.
    acquires_after_release: bool,
    releases: bool,
    /// Part of a locked instruction of x86-64.
    locked: bool,
    /// The write of a read-modify-write.
    of_rmw: bool,
    /// MFENCE, and what implies it.
    mfence: bool,
    /// DMB ISH, and what implies it.
    dmb: bool,
    /// DMB ISHLD.
    load_dmb: bool,
    /// A fence of C11: it orders others and is nothing by itself.
    is_fence: bool,
}

/// The halves of a graph, thread by thread in program order, and what every machine
/// keeps.
struct Halves {
    all: Vec<Half>,
    threads: Vec<Vec<usize>>,
    /// rf, mo and fr between threads, and the edges of starts, ends and locks.
    between: Vec<(usize, usize)>,
    /// rf, mo and fr within a thread.
    within: Vec<(usize, usize)>,
}

impl Halves {
    fn of(witness: &Witness, events: &[Event]) -> Self {
        let mut order: Vec<NodeId> = witness.iter().map(|(id, _)| id).collect();
        order.sort_by_key(|&id| {
            let node = witness.node(id);
            (node.thread, node.position)
        });
        let mut all: Vec<Half> = Vec::new();
        let mut threads: Vec<Vec<usize>> = Vec::new();
        let (mut reading, mut writing) = (
            vec![None; witness.nodes.len()],
            vec![None; witness.nodes.len()],
        );
        let mut thread = None;
        for id in order {
            let node = witness.node(id);
            if node.thread.is_some() && node.thread != thread {
                threads.push(Vec::new());
                thread = node.thread;
            }
            for half in halves_of(
                id.0,
                node.thread,
                &node.label,
                is_exchange(witness, id, events),
            ) {
                let number = all.len();
                if half.reads {
                    reading[id.0] = Some(number);
                }
                if half.writes {
                    writing[id.0] = Some(number);
                }
                if !half.reads && !half.writes {
                    (reading[id.0], writing[id.0]) = (Some(number), Some(number));
                }
                if let (Some(_), Some(own)) = (node.thread, threads.last_mut()) {
                    own.push(number);
                }
                all.push(half);
            }
        }
        let mut halves = Self {
            all,
            threads,
            between: Vec::new(),
            within: Vec::new(),
        };
        halves.add_communication(witness, &reading, &writing);
        halves.add_synchronisation(witness, &reading);
        halves
    }

    fn add(&mut self, from: Option<usize>, to: Option<usize>) {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        if from == to {
            return;
        }
        let (one, other) = (self.all[from].thread, self.all[to].thread);
        if one == other {
            self.within.push((from, to));
        } else {
            self.between.push((from, to));
        }
    }

    fn add_communication(
        &mut self,
        witness: &Witness,
        reading: &[Option<usize>],
        writing: &[Option<usize>],
    ) {
        let mut newer: Vec<Option<NodeId>> = vec![None; witness.nodes.len()];
        for pair in witness
            .modification
            .values()
            .flat_map(|order| order.windows(2))
        {
            self.add(writing[pair[0].0], writing[pair[1].0]);
            newer[pair[0].0] = Some(pair[1]);
        }
        for (&reader, source) in &witness.reads_from {
            self.add(writing[source.0], reading[reader.0]);
            // What comes later in mo follows over mo.
            let next = newer[source.0];
            let next = next.filter(|&next| next != reader).or(newer[reader.0]);
            self.add(reading[reader.0], next.and_then(|write| writing[write.0]));
        }
    }

    fn add_synchronisation(&mut self, witness: &Witness, at: &[Option<usize>]) {
        let mut ends: BTreeMap<ThreadId, (NodeId, NodeId)> = BTreeMap::new();
        let position = |id: &NodeId| witness.node(*id).position;
        for (id, node) in witness.iter() {
            if let Some(thread) = node.thread {
                let (first, last) = ends.entry(thread).or_insert((id, id));
                *first = [*first, id].into_iter().min_by_key(position).unwrap_or(id);
                *last = [*last, id].into_iter().max_by_key(position).unwrap_or(id);
            }
        }
        let end = |id: Option<NodeId>| id.and_then(|id| at[id.0]);
        for (id, node) in witness.iter() {
            match node.label {
                Label::Create { child } => {
                    self.add(at[id.0], end(ends.get(&child).map(|(first, _)| *first)));
                }
                Label::Join { child } => {
                    self.add(end(ends.get(&child).map(|(_, last)| *last)), at[id.0]);
                }
                _ => {}
            }
        }
        for order in witness.lock_order.values() {
            for pair in order.windows(2) {
                self.add(at[pair[0].0], at[pair[1].0]);
            }
        }
    }

    /// Whether nothing speaks against the graph on a machine that keeps this much of
    /// the threads' own order.
    fn is_acyclic(&self, keep: impl Fn(&Self, &mut EdgeList)) -> bool {
        let mut edges = EdgeList::new(self.all.len());
        for &(from, to) in self.between.iter().chain(&self.within) {
            // A read of the thread's own write may be served before others see it.
            let own_read = self.all[from].writes && self.all[to].reads && !self.all[to].writes;
            if self.all[from].thread != self.all[to].thread || !own_read {
                edges.add(from, to);
            }
        }
        keep(self, &mut edges);
        edges.forward().last_first().is_ok()
    }

    /// Everything stays in order but a store and a later load without a fence
    /// between them.
    fn keep_as_x86_64(&self, edges: &mut EdgeList) {
        for own in &self.threads {
            self.keep_stores_buffered(own, edges);
        }
    }

    fn keep_stores_buffered(&self, own: &[usize], edges: &mut EdgeList) {
        // What all that comes later is after, and what only no load is after.
        let (mut done, mut buffered) = (None, None);
        for &at in own {
            let half = &self.all[at];
            let is_fenced = half.locked || half.mfence;
            if is_fenced {
                done = edges.after_both(done, buffered);
            }
            if half.is_fence {
                continue;
            }
            edges.add_some(done, Some(at));
            let is_load = half.reads && !half.writes;
            if !is_load {
                edges.add_some(buffered, Some(at));
            }
            let so_far = match half.writes && !is_fenced {
                true => &mut buffered,
                false => &mut done,
            };
            *so_far = edges.after_both(*so_far, Some(at));
        }
    }

    /// What barriers, acquires and releases keep in order, and a read-modify-write
    /// with an acquire that reads it.
    fn keep_as_aarch64(&self, edges: &mut EdgeList) {
        for own in &self.threads {
            self.keep_barriers(own, edges);
        }
        for &(from, to) in &self.within {
            // Halves are numbered in program order.
            if from < to && self.all[from].of_rmw && self.all[to].acquires {
                edges.add(from, to);
            }
        }
    }

    fn keep_barriers(&self, own: &[usize], edges: &mut EdgeList) {
        // What all that comes later is after.
        let mut done = None;
        let (mut all, mut reads, mut releases) = (None, None, None);
        for (number, &at) in own.iter().enumerate() {
            let half = &self.all[at];
            if half.dmb {
                done = edges.after_both(done, all);
            }
            if half.load_dmb {
                done = edges.after_both(done, reads);
            }
            if half.is_fence {
                continue;
            }
            edges.add_some(done, Some(at));
            if half.releases {
                edges.add_some(all, Some(at));
            }
            if half.acquires_after_release {
                edges.add_some(releases, Some(at));
            }
            let before = number.checked_sub(1).map(|before| own[before]);
            if let Some(before) = before
                && self.all[before].node == half.node
            {
                edges.add(before, at);
            }
            for (so_far, joins) in [
                (&mut done, half.acquires || half.dmb),
                (&mut all, true),
                (&mut reads, half.reads),
                (&mut releases, half.releases),
            ] {
                if joins {
                    *so_far = edges.after_both(*so_far, Some(at));
                }
            }
        }
    }
}

/// Whether a node is a compare-exchange that failed: a read, but a locked one.
fn is_exchange(witness: &Witness, id: NodeId, events: &[Event]) -> bool {
    let event = witness.node(id).event;
    let event = event.and_then(|event| events.get(usize::try_from(event.0).ok()?));
    event.is_some_and(|event| matches!(event.operation, Operation::CompareExchange { .. }))
}

fn halves_of(node: usize, thread: Option<ThreadId>, label: &Label, exchange: bool) -> Vec<Half> {
    let nothing = Half {
        node,
        thread,
        reads: false,
        writes: false,
        acquires: false,
        acquires_after_release: false,
        releases: false,
        locked: false,
        of_rmw: false,
        mfence: false,
        dmb: false,
        load_dmb: false,
        is_fence: false,
    };
    match *label {
        Label::Initial { .. } => vec![Half {
            writes: true,
            ..nothing
        }],
        Label::Read { order, .. } => vec![Half {
            reads: true,
            acquires: order.acquires(),
            acquires_after_release: order.is_sc() || exchange && order.acquires(),
            locked: exchange,
            ..nothing
        }],
        Label::Write { order, .. } => vec![Half {
            writes: true,
            releases: order.releases(),
            // XCHG.
            locked: order.is_sc(),
            ..nothing
        }],
        Label::Rmw { order, .. } => vec![
            Half {
                reads: true,
                acquires: order.acquires(),
                acquires_after_release: order.acquires(),
                locked: true,
                ..nothing
            },
            Half {
                writes: true,
                releases: order.releases(),
                locked: true,
                of_rmw: true,
                ..nothing
            },
        ],
        Label::Fence { order } => vec![Half {
            mfence: order.is_sc(),
            dmb: order.releases(),
            load_dmb: !order.releases(),
            is_fence: true,
            ..nothing
        }],
        _ => vec![Half {
            mfence: true,
            dmb: true,
            ..nothing
        }],
    }
}
