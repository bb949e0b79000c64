//! The top of the tree of schedules, cut where enough of it is open: what lies below
//! is explored in parts, each by an explorer that knows nothing of the others.
//!
//! A node of the top has a child for *every* thread that could go on there and does not
//! sleep. Any set of threads that holds a source set will do for optimal partial order
//! reduction, and the set of all of them always does (Abdulla et al., JACM 2017; Simsa
//! et al., "Scalable Dynamic Partial Order Reduction", RV 2012, split a tree like that).
//!
//! 1. Nothing is missed: a part is the tree of one machine in which the leaves of others
//!    are taken to be explored, and they are, by the others. If a run asks for a schedule
//!    at the top that no child stands for, the part explores that, too.
//! 2. Whoever sleeps at a leaf is a thread that waits there until somebody takes a step
//!    that it depends on. The program with that wait is what is explored below: a run
//!    that comes to an end because all others sleep ends there, and a schedule is never
//!    left out because a sleeper could have gone first. (In a whole tree it can be:
//!    wakeup sequences wake all sleepers, and what lies below the sleeper asks for more.
//!    Here that would be asked for in another part.)
//! 3. No class is run by two parts: the children of a node sleep in those after it, and
//!    a run in which a sleeper goes on before somebody has woken it is no class. That
//!    needs 1. not to happen: what a run asks for begins with a thread that could go on,
//!    which sleeps there or is a child.
//! 4. All parts find the same top, because equal schedules give equal runs. Each makes
//!    the runs that this takes; they are no part of the exploration, and whoever has
//!    the leaf makes them again.
//!
//! The price of 2. is runs in which nobody wakes the sleepers: as many as there are
//! classes without their threads.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::step::{Actor, Run, Step};
use super::tree::{Assignment, Explorer};

/// Runs that finding one leaf may take: where threads do not meet, there is little to
/// find and much to try.
const RUNS_A_LEAF: usize = 8;
/// Nodes that the top may have.
const MOST_NODES: usize = 20_000;

/// See the module. Every assignment must be handed back by [`Frontier::finish`] before
/// the next one.
#[derive(Clone, Debug)]
pub struct Frontier {
    tree: Explorer,
    /// The number of leaves that are enough.
    wanted: usize,
    /// A run that passes each node, by the number of the node.
    passing: Vec<Passing>,
    runs: Vec<Run>,
    made: usize,
    /// Nodes that may get children.
    waiting: VecDeque<usize>,
    /// Leaves with a run that is a class of its own.
    live: usize,
    /// The node that is given its children.
    node: usize,
    /// The steps that are to be tried at that node, the next one first.
    tries: VecDeque<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Passing {
    run: usize,
    /// The run is a class of its own.
    live: bool,
}

impl Frontier {
    /// A top with about this many leaves.
    pub fn new(wanted: usize) -> Self {
        Self {
            tree: Explorer::default(),
            wanted,
            passing: Vec::new(),
            runs: Vec::new(),
            made: 0,
            waiting: VecDeque::new(),
            live: 1,
            node: 0,
            tries: VecDeque::new(),
        }
    }

    /// What to run next; nothing if the top is known.
    pub fn assign(&mut self) -> Option<Assignment> {
        if self.runs.is_empty() {
            return Some(Assignment::again(Vec::new(), Vec::new()));
        }
        while self.tries.is_empty() {
            if self.is_enough() {
                return None;
            }
            let node = self.waiting.pop_front()?;
            self.expand(node);
        }
        let step = self.tries.front()?;
        let path = self.tree.path(self.node);
        let mut prefix = self.tree.actors(&path[1..]);
        prefix.push(step.actor);
        let mut asleep = self.tree.asleep_after(&path).still;
        asleep.extend(self.tree.children(self.node));
        asleep.retain(|&n| self.tree.sleeps_on(n, step.actor, &step.accesses));
        Some(Assignment::again(prefix, self.tree.actors(&asleep)))
    }

    /// Takes what came of the assignment. A thread that did not go on had to wait.
    pub fn finish(&mut self, run: Run) {
        self.made += 1;
        if self.runs.is_empty() {
            self.runs.push(run);
            self.passing.push(Passing { run: 0, live: true });
            self.waiting.push_back(0);
            return;
        }
        let Some(tried) = self.tries.pop_front() else {
            return;
        };
        let path = self.tree.path(self.node);
        let mut prefix = self.tree.actors(&path[1..]);
        prefix.push(tried.actor);
        let taken: Vec<Actor> = run.steps.iter().map(|step| step.actor).collect();
        // A round of a loop in which nothing has changed is as good as waiting.
        if taken.starts_with(&prefix) && !run.steps[path.len() - 1].repeats {
            self.runs.push(run);
            self.add(self.runs.len() - 1);
        }
    }

    /// How many runs it took.
    pub fn runs(&self) -> u64 {
        self.made as u64
    }

    /// The tree with those leaves to be run that one part of several has; `number`
    /// counts from 0.
    pub fn part(&self, number: usize, total: usize) -> Explorer {
        let leaves = self.tree.all_leaves().into_iter();
        let (live, dead): (Vec<usize>, Vec<usize>) = leaves.partition(|&leaf| self.is_live(leaf));
        let deal = |leaves: Vec<usize>| leaves.into_iter().skip(number).step_by(total.max(1));
        let own: Vec<usize> = deal(live).chain(deal(dead)).collect();
        self.tree.with_open(&own)
    }

    fn is_live(&self, node: usize) -> bool {
        self.passing.get(node).is_none_or(|passing| passing.live)
    }

    fn is_enough(&self) -> bool {
        self.live >= self.wanted
            || self.made >= self.wanted.saturating_mul(RUNS_A_LEAF)
            || self.passing.len() >= MOST_NODES
    }

    /// Gives a node the child that its run goes on with, and lists the others.
    fn expand(&mut self, node: usize) {
        let number = self.passing[node].run;
        let path = self.tree.path(node);
        let (run, depth) = (&self.runs[number], path.len() - 1);
        let Some(next) = run.steps.get(depth) else {
            return;
        };
        self.node = node;
        if !next.repeats {
            let asleep = self.tree.actors(&self.tree.asleep_after(&path).still);
            let others = run.instead_of(depth).into_iter();
            self.tries = others
                .filter(|step| !asleep.contains(&step.actor))
                .collect();
        }
        self.live -= 1;
        self.add(number);
    }

    /// Adds the child that a run goes on with.
    fn add(&mut self, number: usize) {
        let mut path = self.tree.path(self.node);
        let run = &self.runs[number];
        path.push(self.tree.add(self.node, &run.steps[path.len() - 1], true));
        let live = self.tree.sleep_sets(&path, run).end == run.steps.len();
        self.passing.push(Passing { run: number, live });
        if live {
            self.live += 1;
            self.waiting.push_back(path[path.len() - 1]);
        }
    }
}
