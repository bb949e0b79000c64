//! The shortest way from a write to the access that should have seen it, along
//! the edges that an interleaving respects. Looks at every event of the run at
//! most once: what a thread, a location or a lock leads to is always the rest
//! of a list, and a list that was walked from some place on is done from there.

use std::collections::{HashMap, VecDeque};

use super::graph::Label;
use super::trace::Trace;
use crate::event::{LockId, LockMode, ThreadId};
use crate::model::Model;

/// Why one event is before another in every interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edge {
    /// The same thread does one before the other.
    ProgramOrder,
    /// The later one reads what the earlier one wrote.
    ReadsFrom,
    /// Both write a location, and the earlier one's write is older.
    Modification,
    /// The earlier one reads a write older than the later one's.
    FromRead,
    /// A thread's start or end, or a lock handed over.
    Synchronisation,
    /// RC20: both are SC fences.
    FenceOrder,
}

/// The edges from step `from` to the access that comes next in `thread`, each
/// with the step it leads to (`None`: the access), as few as possible.
pub(super) fn shortest(
    trace: &Trace,
    from: usize,
    thread: ThreadId,
    model: Model,
) -> Option<Vec<(Edge, Option<usize>)>> {
    let mut search = Search {
        trace,
        reached: vec![None; trace.steps.len()],
        queue: VecDeque::from([from]),
        from,
        thread_done: HashMap::new(),
        object_done: HashMap::new(),
        lock_done: HashMap::new(),
        fences_done: trace.sc_fences.len(),
    };
    while let Some(step) = search.queue.pop_front() {
        if trace.steps[step].thread == thread {
            let mut path = vec![(Edge::ProgramOrder, None)];
            let mut at = step;
            while let Some((edge, before)) = search.reached[at] {
                path.push((edge, Some(at)));
                at = before;
            }
            path.reverse();
            return Some(path);
        }
        search.expand(step, model);
    }
    None
}

struct Search<'a> {
    trace: &'a Trace,
    /// How each step was first reached, and from which.
    reached: Vec<Option<(Edge, usize)>>,
    queue: VecDeque<usize>,
    from: usize,
    /// From where on the steps of a thread are reached.
    thread_done: HashMap<ThreadId, usize>,
    /// From which number on the writes to an object are reached.
    object_done: HashMap<usize, usize>,
    /// From where on a lock's acquires are reached by releases of this mode.
    lock_done: HashMap<(LockId, LockMode), usize>,
    fences_done: usize,
}

impl Search<'_> {
    fn expand(&mut self, from: usize, model: Model) {
        let trace = self.trace;
        let step = &trace.steps[from];
        let rest = &trace.threads[&step.thread];
        let done = self.thread_done.entry(step.thread).or_insert(rest.len());
        let later = fresh(rest, step.position + 1, done);
        self.reach(from, Edge::ProgramOrder, later);

        if let Some((object, number)) = step.access {
            let writes = &trace.object(object).writes;
            if step.label.writes() {
                self.reach(from, Edge::ReadsFrom, &trace.object(object).readers[number]);
            }
            let edge = match step.label.writes() {
                true => Edge::Modification,
                false => Edge::FromRead,
            };
            let done = self.object_done.entry(object).or_insert(writes.len());
            let newer = fresh(writes, number, done);
            self.reach(from, edge, newer);
        }

        match step.label {
            Label::Create { child } => {
                self.reach(from, Edge::Synchronisation, &trace.threads[&child][..1]);
            }
            Label::Exit => {
                let joins = trace.joins.get(&step.thread).map_or(&[][..], Vec::as_slice);
                self.reach(from, Edge::Synchronisation, joins);
            }
            Label::Release { lock, mode } => {
                let order = &trace.locks[&lock];
                let done = self.lock_done.entry((lock, mode)).or_insert(order.len());
                let later = fresh(order, step.turn + 1, done);
                let taken: Vec<usize> = (later.iter().copied())
                    .filter(|&to| trace.takes_from(to, mode))
                    .collect();
                self.reach(from, Edge::Synchronisation, &taken);
            }
            label if label.is_sc_fence() && model == Model::Rc20 => {
                let fences = &trace.sc_fences;
                let later = fresh(fences, step.turn + 1, &mut self.fences_done);
                self.reach(from, Edge::FenceOrder, later);
            }
            _ => {}
        }
    }

    fn reach(&mut self, from: usize, edge: Edge, steps: &[usize]) {
        for &step in steps {
            if step != self.from && self.reached[step].is_none() {
                self.reached[step] = Some((edge, from));
                self.queue.push_back(step);
            }
        }
    }
}

/// The part of the list from `begin` on that was not walked before.
fn fresh<'a>(list: &'a [usize], begin: usize, done: &mut usize) -> &'a [usize] {
    let end = *done;
    if begin >= end {
        return &[];
    }
    *done = begin;
    &list[begin..end]
}
